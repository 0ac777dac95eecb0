// The log of a job: its end first, then what comes. Terminal colours become classes;
// the text only ever becomes text.
'use strict';

const LOG_LINES = 5000; // kept in the document
const TAIL = 1000; // lines read first

const SGR_NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

// Applies the numbers of one "select graphic rendition" sequence to the style.
function applySgr(style, numbers) {
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    if (n === 0) style = {};
    else if (n === 1) style = { ...style, bold: true };
    else if (n === 2) style = { ...style, faint: true };
    else if (n === 4) style = { ...style, under: true };
    else if (n === 22) style = { ...style, bold: false, faint: false };
    else if (n === 24) style = { ...style, under: false };
    else if (n >= 30 && n <= 37) style = { ...style, colour: SGR_NAMES[n - 30] };
    else if (n >= 90 && n <= 97) style = { ...style, colour: SGR_NAMES[n - 90] };
    else if (n === 38 && numbers[i + 1] === 5) {
      // Of 256 colours, the first sixteen are these; the others keep the text's own.
      style = { ...style, colour: numbers[i + 2] < 16 ? SGR_NAMES[numbers[i + 2] % 8] : undefined };
      i += 2;
    } else if (n === 38 && numbers[i + 1] === 2) i += 4;
    else if (n === 48) i += numbers[i + 1] === 5 ? 2 : 4;
    else if (n === 39) style = { ...style, colour: undefined };
  }
  return style;
}

const styleClass = (style) =>
  [style.bold && 'a-bold', style.faint && 'a-faint', style.under && 'a-under', style.colour && `a-${style.colour}`]
    .filter(Boolean)
    .join(' ');

// Other control characters are shown, so that nothing hides.
const showControls = (text) =>
  // eslint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (c) =>
    c.charCodeAt(0) < 32 ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : '\ufffd');

// What a terminal shows of a line in which the program went back to its start.
function lastReturn(line) {
  const trimmed = line.replace(/\r+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}

// The parts of a line: [text, class]. `style` goes on from the line before.
function ansiParts(line, style) {
  const parts = [];
  let rest = lastReturn(line);
  // eslint-disable-next-line no-control-regex
  const sequence = /\u001b(?:\[([0-9;:]*)m|\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/;
  for (let found = sequence.exec(rest); found; found = sequence.exec(rest)) {
    if (found.index) parts.push([rest.slice(0, found.index), styleClass(style)]);
    if (found[0].endsWith('m') && found[1] !== undefined) {
      style = applySgr(style, found[1].split(/[;:]/).map(Number));
    }
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest) parts.push([rest, styleClass(style)]);
  return { parts, style };
}

// The part with the searched words marked.
function markedText(text, search) {
  if (!search) return [text];
  const out = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(search); at >= 0; at = lower.indexOf(search, from)) {
    out.push(text.slice(from, at), html('mark', text.slice(at, at + search.length)));
    from = at + search.length;
  }
  return [...out, text.slice(from)];
}

function makeLogLine({ parts }, search) {
  const line = html('div', { class: 'line' });
  for (const [text, style] of parts) {
    const shown = markedText(showControls(text), search);
    if (style) line.append(html('span', { class: style }, shown));
    else line.append(...shown);
  }
  return line;
}

// The box with the lines of a log, and its controls.
function makeLog(job) {
  const lines = []; // {parts, text}
  let style = {};
  let partial = '';
  let following = true;
  let search = '';
  let found = [];
  let current = -1;
  let reader = null;
  let stopped = false;
  let attempt = null;

  const body = html('div', { class: 'log', tabindex: 0, role: 'log', 'aria-label': 'Log', 'aria-live': 'off' });
  const said = html('span', { class: 'dim', role: 'status' });
  const follow = html('input', { type: 'checkbox', checked: true });
  const input = html('input', { type: 'search', placeholder: 'Search the log', autocomplete: 'off', spellcheck: 'false' });
  const attempts = html('select', { 'aria-label': 'Attempt' });

  const toEnd = () => {
    if (following) body.scrollTop = body.scrollHeight;
  };
  const say = (text) => {
    said.textContent = text ?? (search ? `${count(found.length, 'line')} found` : `${grouped(lines.length)} lines`);
  };
  const add = (text) => {
    const next = ansiParts(text, style);
    style = next.style;
    const line = { parts: next.parts, text: next.parts.map(([part]) => part).join('').toLowerCase() };
    lines.push(line);
    line.node = makeLogLine(line, search);
    if (search && line.text.includes(search)) found.push(line);
    return line.node;
  };
  const take = (text) => {
    body.querySelector('.empty')?.remove();
    const pieces = (partial + text).split('\n');
    partial = pieces.pop();
    // A progress bar without a line end must not grow for ever.
    if (partial.length > 65536) partial = lastReturn(partial).slice(-65536);
    const more = document.createDocumentFragment();
    for (const piece of pieces) more.append(add(piece));
    body.querySelector('.partial')?.remove();
    body.append(more);
    if (partial) {
      const { parts } = ansiParts(partial, style);
      const node = makeLogLine({ parts }, search);
      node.classList.add('partial');
      body.append(node);
    }
    while (lines.length > LOG_LINES) lines.shift().node.remove();
    say();
    toEnd();
  };
  const reset = () => {
    lines.length = 0;
    found = [];
    style = {};
    partial = '';
    body.replaceChildren(html('p', { class: 'empty' }, 'Nothing has been printed yet.'));
  };

  const read = async () => {
    reader?.abort();
    reader = new AbortController();
    const { signal } = reader;
    reset();
    const query = attempt ? `attempt=${attempt}` : `follow=1&tail=${TAIL}`;
    try {
      const reply = await get(`/jobs/${job}/logs?${query}`, { raw: true, signal });
      const start = Number(reply.headers.get('X-Log-Offset') || 0);
      if (start > 0) body.prepend(html('div', { class: 'line earlier' }, `… ${bytes(start)} before this`));
      const decoder = new TextDecoder();
      const stream = reply.body.getReader();
      for (let part = await stream.read(); !part.done; part = await stream.read()) {
        take(decoder.decode(part.value, { stream: true }));
      }
      if (!lines.length && !partial) render(body, html('p', { class: 'empty' }, 'It has printed nothing.'));
    } catch (failure) {
      if (failure.name === 'AbortError' || stopped) return;
      if (failure.status === 404 || failure.status === 409) {
        render(body, html('p', { class: 'empty' }, 'There is no log yet: the job has not started.'));
      } else {
        say('interrupted; it goes on when the server is back');
      }
    }
  };
  const find = (step) => {
    if (!found.length) return;
    current = (current + step + found.length) % found.length;
    following = false;
    follow.checked = false;
    body.querySelector('.current')?.classList.remove('current');
    found[current].node.classList.add('current');
    found[current].node.scrollIntoView({ block: 'center' });
    say(`${current + 1} of ${count(found.length, 'line')}`);
  };

  follow.addEventListener('change', () => {
    following = follow.checked;
    toEnd();
  });
  body.addEventListener('wheel', (event) => {
    if (event.deltaY >= 0) return;
    following = false;
    follow.checked = false;
  }, { passive: true });
  input.addEventListener('input', () => {
    search = input.value.toLowerCase();
    found = search ? lines.filter((line) => line.text.includes(search)) : [];
    current = -1;
    for (const line of lines) {
      const node = makeLogLine(line, search);
      line.node.replaceWith(node);
      line.node = node;
    }
    say();
    if (search) find(-1);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    find(event.shiftKey ? -1 : 1);
  });
  attempts.addEventListener('change', () => {
    attempt = attempts.value ? Number(attempts.value) : null;
    read();
  });
  const again = () => read();
  addEventListener('reconnected', again);

  return {
    box: html('div', { class: 'log-box' },
      html('div', { class: 'tools' }, html('label', { class: 'filter' }, html('span', { class: 'unseen' }, 'Search the log'), input),
        html('label', { class: 'check' }, follow, 'Follow'), attempts, said,
        html('a', { class: 'button', href: `api/v1/jobs/${job}/logs`, download: `job-${job}.log` }, 'Download')),
      body),
    read,
    setAttempts(list) {
      attempts.hidden = list.length < 2;
      render(attempts, html('option', { value: '' }, 'Latest attempt'),
        list.map(({ n }) => html('option', { value: n }, `Attempt ${n}`)));
    },
    end() {
      stopped = true;
      removeEventListener('reconnected', again);
      reader?.abort();
    },
  };
}
