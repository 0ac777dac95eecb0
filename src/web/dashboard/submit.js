// The form that submits a job. Its fields are those of the API's document, the server
// checks them as it checks the command line, and the command that would do the same is
// shown.
'use strict';

const FIRST_FIELDS = ['name', 'cpus', 'gpus', 'memory', 'workdir', 'time_limit', 'deadline', 'priority'];
// What a browser has no use for: it has no environment and no folder to give.
const LEFT_OUT = ['command', 'script', 'user', 'environment', 'export', 'upload'];
const FIELD_GROUPS = [
  ['Size and sharing', ['gpu_type', 'workers', 'resize', 'preempt', 'weight', 'no_probe']],
  ['Deadline and time', ['deadline_at', 'strict_deadline', 'signal', 'grace']],
  ['Progress and early end', ['metric', 'goal', 'target', 'total', 'pattern', 'category', 'stop_when', 'stop_when_flat', 'stop_on_nan']],
  ['Arrays, sweeps and order', ['array', 'sweep', 'group', 'keep_best', 'every', 'after', 'hold']],
  ['Checkpoints and failures', ['checkpoint_dir', 'checkpoint_signal', 'retries', 'backoff', 'requeue', 'lease', 'wait_children']],
  ['Container and environment', ['image', 'run_as', 'mounts', 'shm_size', 'ulimits', 'env', 'pty']],
  ['Notices and notes', ['notify', 'notify_on', 'comment']],
];
// Where the command line's words would be wrong here.
const FIELD_HELP = { workdir: 'working directory on the node (default: the server’s home directory; in a container, that of its image)' };

// Splits a command line into words as a shell does, without expanding anything.
// Returns null for a quote that is not closed.
function shellSplit(text) {
  const words = [];
  let word = null;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "'" || c === '"') {
      const end = closingQuote(text, i);
      if (end < 0) return null;
      const inside = text.slice(i + 1, end);
      word = (word ?? '') + (c === '"' ? inside.replace(/\\(["\\$`])/g, '$1') : inside);
      i = end;
    } else if (c === '\\' && i + 1 < text.length) {
      word = (word ?? '') + text[++i];
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? '') + c;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

function closingQuote(text, from) {
  for (let i = from + 1; i < text.length; i++) {
    if (text[from] === '"' && text[i] === '\\') i++;
    else if (text[i] === text[from]) return i;
  }
  return -1;
}

const typeOf = (schema) => [schema.type ?? (schema.anyOf || []).map((one) => one.type)].flat();

const fieldTitle = (name) =>
  name.replace(/^[cg]pu/, (unit) => unit.toUpperCase()).replaceAll('_', ' ').replace(/^./, (c) => c.toUpperCase());

// The input for a field of the schema.
function fieldInput(name, schema) {
  if (schema.enum) {
    return html('select', { name }, html('option', { value: '' }, 'default'),
      schema.enum.map((word) => html('option', { value: word }, word)));
  }
  const types = typeOf(schema);
  if (types.includes('boolean')) return html('input', { type: 'checkbox', name });
  if (types.includes('array') || types.includes('object')) {
    return html('textarea', { name, rows: 2, spellcheck: 'false', placeholder: 'one on each line' });
  }
  return html('input', { type: 'text', name, autocomplete: 'off', spellcheck: 'false' });
}

function fieldValue(input) {
  if (input.type === 'checkbox') return input.checked || undefined;
  if (input.tagName === 'TEXTAREA') {
    const lines = input.value.split('\n').map((line) => line.trim()).filter(Boolean);
    return lines.length ? lines : undefined;
  }
  return input.value.trim() || undefined;
}

function formField(name, schema) {
  const check = typeOf(schema).includes('boolean');
  return html('label', { class: check ? 'check field' : 'field', 'data-field': name },
    check ? [fieldInput(name, schema), fieldTitle(name)] : [fieldTitle(name), fieldInput(name, schema)],
    html('small', FIELD_HELP[name] ?? schema.description), html('small', { class: 'failure', role: 'alert' }));
}

// The first fields, and the others in groups; fields that are in no group come last.
function submitForm(schema) {
  const names = Object.keys(schema.properties).filter((name) => !LEFT_OUT.includes(name));
  const make = (list) => list.filter((name) => names.includes(name)).map((name) => formField(name, schema.properties[name]));
  const placed = new Set([...FIRST_FIELDS, ...FIELD_GROUPS.flatMap(([, list]) => list)]);
  const rest = names.filter((name) => !placed.has(name));
  const groups = [...FIELD_GROUPS, ['Other', rest]].map(([title, list]) => [title, make(list)]).filter(([, made]) => made.length);
  return { first: make(FIRST_FIELDS), groups };
}

// What the server answers: which jobs there are, whether deadlines can be met, what it warns of.
function submittedPart({ jobs, deadlines, warnings }) {
  const link = jobs.length === 1 ? `#/jobs/${jobs[0].id}` : '#/jobs';
  const words = { met: 'done', late: 'failed' };
  return html('div', { class: 'warn', role: 'status' },
    html('p', html('b', jobs.length === 1 ? `Job ${jobs[0].id} is submitted.` : `${count(jobs.length, 'job')} are submitted.`), ' ',
      html('a', { href: link }, jobs.length === 1 ? 'Its page' : 'The list of jobs')),
    deadlines.map((one) => html('p', html('span', { class: `state ${words[one.outlook] ?? ''}` }, `deadline: ${one.outlook}`), ' ', commandText(one.text))),
    warnings.map((text) => html('p', commandText(text))));
}

function submitPage(main) {
  const command = html('textarea', { name: 'command', rows: 2, required: true, spellcheck: 'false', placeholder: 'python3 train.py --epochs 10' });
  const same = html('code', { class: 'same' });
  const failure = html('p', { class: 'failure', role: 'alert' });
  const answer = html('div', { 'aria-live': 'polite' });
  const send = html('button', { type: 'submit', class: 'primary' }, 'Submit');
  const form = html('form', { class: 'submit', novalidate: true });
  let timer = null;

  const read = () => {
    const words = shellSplit(command.value);
    if (words === null) throw new Problem(400, { detail: 'command: a quote is not closed', field: 'command' });
    const body = { command: words };
    for (const input of form.querySelectorAll('[data-field] [name]')) {
      const value = input.name === 'command' ? undefined : fieldValue(input);
      if (value !== undefined) body[input.name] = value;
    }
    return body;
  };
  // Errors are shown at their field.
  const show = (problem) => {
    failure.textContent = '';
    for (const label of form.querySelectorAll('[data-field]')) {
      const wrong = problem && label.dataset.field === problem.field;
      label.querySelector('.failure').textContent = wrong ? problem.message : '';
      label.querySelector('[name]').setAttribute('aria-invalid', String(Boolean(wrong)));
    }
    const field = problem && form.querySelector(`[data-field="${CSS.escape(problem.field ?? '')}"]`);
    if (problem && !field) failure.textContent = problem.message;
    field?.closest('details')?.setAttribute('open', '');
  };
  const check = async () => {
    if (!command.value.trim()) {
      same.textContent = 'trainyard submit -- …';
      return;
    }
    try {
      same.textContent = (await post('/check', read())).command;
      show(null);
    } catch (problem) {
      show(problem);
    }
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(check, 250);
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      const reply = await post('/jobs', read());
      const { jobs } = reply;
      if (reply.warnings.length || reply.deadlines.length) {
        answer.replaceChildren(submittedPart(reply));
        answer.scrollIntoView({ block: 'nearest' });
      } else {
        note(jobs.length === 1 ? `Job ${jobs[0].id} is submitted.` : `${count(jobs.length, 'job')} are submitted.`);
        location.hash = jobs.length === 1 ? `#/jobs/${jobs[0].id}` : '#/jobs';
      }
    } catch (problem) {
      show(problem);
    }
    send.disabled = false;
  });
  const build = ({ first, groups }) => form.replaceChildren(
    html('label', { class: 'field wide', 'data-field': 'command' }, 'Command', command,
      html('small', 'Quoted as in a shell; variables and wildcards are not expanded.'), html('small', { class: 'failure', role: 'alert' })),
    html('div', { class: 'fields' }, first),
    ...groups.map(([title, fields]) => html('details', { class: 'group' }, html('summary', title), html('div', { class: 'fields' }, fields))),
    html('h2', { class: 'small' }, 'The same on the command line'), html('div', { class: 'same-box' }, same),
    failure, html('div', { class: 'buttons' }, send), answer);
  main.append(html('div', { class: 'page-head' }, html('h1', 'Submit a job')), form);
  get('/openapi.json')
    .then((document_) => {
      build(submitForm(document_.components.schemas.JobRequest));
      check();
      command.focus();
    })
    .catch((problem) => render(form, html('p', { class: 'failure' }, visible(problem.message))));
  return { title: 'Submit', update: () => {}, end: () => clearTimeout(timer) };
}
