// Questions before something is done, messages after it, and the login.
'use strict';

// A short message that goes away by itself.
function note(text, kind = 'fine') {
  const line = html('div', { class: `note-line ${kind}` }, text);
  byId('notes').append(line);
  setTimeout(() => line.remove(), kind === 'failed' ? 12_000 : 5_000);
}

function askInput(field) {
  if (field.options) {
    return html('select', { name: field.name },
      field.options.map(([value, text]) => html('option', { value }, text)));
  }
  return html('input', { type: field.type || 'text', name: field.name, value: field.value ?? '', placeholder: field.placeholder,
    autocomplete: 'off', spellcheck: 'false' });
}

// Asks with a dialog. fields: [{name, label, value, help, type,
// options: [[value, text]]}]. Calls act(values)
// when the user agrees; the dialog stays open with the reason if that fails.
function ask({ title, text, fields = [], verb, back = 'Back', danger, act }) {
  const failure = html('p', { class: 'failure', role: 'alert', hidden: true });
  const inputs = fields.map((field) => ({ field, input: askInput(field) }));
  const agree = html('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, verb);
  const form = html(
    'form',
    { method: 'dialog' },
    html('h2', { id: 'dialog-title' }, title),
    text && html('p', text),
    inputs.map(({ field, input }) =>
      html('label', { class: 'field' }, field.label, input, field.help && html('small', field.help)),
    ),
    failure,
    html(
      'div',
      { class: 'buttons' },
      html('button', { type: 'button', onclick: () => dialog.close() }, back),
      agree,
    ),
  );
  const dialog = html('dialog', { 'aria-labelledby': 'dialog-title' }, form);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    agree.disabled = true;
    try {
      await act(Object.fromEntries(inputs.map(({ field, input }) => [field.name, input.value])));
      dialog.close();
    } catch (problem) {
      failure.textContent = problem.message;
      failure.hidden = false;
    }
    agree.disabled = false;
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  (inputs[0]?.input || agree).focus();
}

// Does it, and says how it went.
async function attempt(what, action) {
  try {
    await action();
    note(what);
  } catch (problem) {
    note(problem.message, 'failed');
  }
}

function loginPage(done) {
  const failure = html('p', { class: 'failure', role: 'alert', hidden: true });
  const input = html('input', { type: 'password', autocomplete: 'current-password', required: true });
  const form = html(
    'form',
    { class: 'login' },
    html('h1', 'Log in'),
    html('p', 'Run ', html('code', 'trainyard open'), ' where the server runs: it opens this page logged in. Or enter a token, which ',
      html('code', 'trainyard token create'), ' makes.'),
    html('label', { class: 'field' }, 'Token', input),
    failure,
    html('button', { type: 'submit', class: 'primary' }, 'Log in'),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      await logIn(input.value);
      done();
    } catch (problem) {
      failure.textContent = problem.message;
      failure.hidden = false;
      input.select();
    }
  });
  document.documentElement.classList.add('out');
  byId('main').replaceChildren(form);
  input.focus();
}
