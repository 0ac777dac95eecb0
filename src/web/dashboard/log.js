// The log of a job: its end first, then what comes. Earlier parts are read when they are
// needed, and the server searches all of it, so a log may be as long as it likes.
'use strict';

const LOG_LINES = 5000; // kept in the document while it follows
const TAIL = 1000; // lines read first
const LOG_PAGE = 128 * 1024; // bytes read at a time
const FOUND_MOST = 20_000; // lines that a search lists
const NEWLINE = 10;

// Splits bytes into lines with their offsets; `rest` is what follows the last line end.
function splitLines(bytes, offset) {
  const lines = [];
  const decoder = new TextDecoder();
  let from = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
    lines.push([decoder.decode(bytes.subarray(from, end)), offset + from]);
    from = end + 1;
  }
  return { lines, rest: bytes.subarray(from) };
}

function joinBytes(a, b) {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

// Reads `length` bytes from the offset on: {at, bytes}, where the oldest may have been removed.
async function readLogPart(job, attempt, offset, length) {
  const reply = await get(`/jobs/${job}/logs?offset=${offset}${attempt ? `&attempt=${attempt}` : ''}`,
    { raw: true, headers: { Range: `bytes=0-${length - 1}` } });
  return { at: Number(reply.headers.get('X-Log-Offset') || 0), bytes: new Uint8Array(await reply.arrayBuffer()) };
}

// The offsets of all lines that have the text; page(offsets) is told as they are found.
async function searchLog(job, attempt, text, signal, page) {
  const found = [];
  let from = 0;
  while (from !== null && found.length < FOUND_MOST) {
    const reply = await get(`/jobs/${job}/logs/search?text=${encodeURIComponent(text)}&from=${from}${attempt ? `&attempt=${attempt}` : ''}`, { signal });
    found.push(...reply.lines);
    from = reply.next;
    page(found);
  }
}

// The box with the lines of a log, and its controls.
function makeLog(job) {
  const lines = []; // {parts, at, node}
  let style = {};
  let partial = new Uint8Array();
  let first = 0; // offset of the first line in the document
  let last = 0; // offset after what was read
  let following = true;
  let detached = false; // a part that does not reach the end
  let search = '';
  let found = []; // offsets
  let current = -1;
  let reader = null;
  let searching = null;
  let paging = false;
  let stopped = false;
  let chosen = null; // an attempt other than the latest
  let latest = 0;

  const body = html('div', { class: 'log', tabindex: 0, role: 'log', 'aria-label': 'Log', 'aria-live': 'off' });
  const earlier = html('button', { type: 'button', class: 'quiet earlier', hidden: true });
  const later = html('button', { type: 'button', class: 'quiet later', hidden: true }, 'Later lines');
  const said = html('span', { class: 'dim', role: 'status' });
  const follow = html('input', { type: 'checkbox', checked: true });
  const input = html('input', { type: 'search', placeholder: 'Search the whole log', autocomplete: 'off', spellcheck: 'false' });
  const attempts = html('select', { 'aria-label': 'Attempt' });
  const attempt = () => chosen ?? latest;

  const toEnd = () => {
    if (following) body.scrollTop = body.scrollHeight;
  };
  const unfollow = () => {
    following = false;
    follow.checked = false;
  };
  const say = (text) => {
    said.textContent = text ?? (search ? `${count(found.length, 'line')} found` : `${grouped(lines.length)} lines shown`);
    earlier.hidden = first === 0 || !lines.length;
    earlier.textContent = `Earlier lines: ${bytes(first)} before this`;
    later.hidden = !detached;
  };
  const makeLine = ([text, at]) => {
    const next = ansiParts(text, style);
    style = next.style;
    const line = { parts: next.parts, at };
    line.node = makeLogLine(line, search);
    return line;
  };
  // Adds lines at the end.
  const take = (more) => {
    body.querySelector('.empty')?.remove();
    const { lines: pieces, rest } = splitLines(joinBytes(partial, more), last - partial.length);
    last += more.length;
    // A progress bar without a line end must not grow for ever.
    partial = rest.length > 65536 ? rest.slice(-65536) : rest.slice();
    body.querySelector('.partial')?.remove();
    for (const piece of pieces) {
      const line = makeLine(piece);
      lines.push(line);
      if (search && piece[0].toLowerCase().includes(search) && !(found.at(-1) >= line.at)) found.push(line.at);
      later.before(line.node);
    }
    if (partial.length) {
      const node = makeLogLine(ansiParts(new TextDecoder().decode(partial), style), search);
      node.classList.add('partial');
      later.before(node);
    }
    while (following && lines.length > LOG_LINES) lines.shift().node.remove();
    if (lines.length) first = lines[0].at;
    say();
    toEnd();
  };
  const reset = (words) => {
    lines.length = 0;
    style = {};
    partial = new Uint8Array();
    first = last = 0;
    body.replaceChildren(earlier, html('p', { class: 'empty' }, words), later);
    say('');
  };

  const fail = (failure) => {
    if (failure.name === 'AbortError' || stopped) return;
    if (failure.status === 404 || failure.status === 409) reset('There is no log yet: the job has not started.');
    else say('interrupted; it continues when the server is back');
  };
  const stream = async () => {
    reader?.abort();
    reader = new AbortController();
    detached = false;
    reset('Nothing has been printed yet.');
    try {
      const query = chosen ? `attempt=${chosen}&tail=${TAIL}` : `follow=1&tail=${TAIL}`;
      const reply = await get(`/jobs/${job}/logs?${query}`, { raw: true, signal: reader.signal });
      first = last = Number(reply.headers.get('X-Log-Offset') || 0);
      const source = reply.body.getReader();
      for (let part = await source.read(); !part.done; part = await source.read()) take(part.value);
      if (!lines.length && !partial.length) reset('It has printed nothing.');
    } catch (failure) {
      fail(failure);
    }
  };
  // Adds the part before the first line; what the reader looks at stays where it is.
  const pageBack = async () => {
    if (paging || first === 0 || !lines.length) return;
    paging = true;
    unfollow();
    try {
      const want = Math.max(0, first - LOG_PAGE);
      let { at, bytes: part } = await readLogPart(job, attempt(), want, first - want);
      if (at > 0 && at === want) {
        const cut = part.indexOf(NEWLINE) + 1; // 0 = one very long line: shown in pieces
        part = part.subarray(cut);
        at += cut;
      }
      const kept = style;
      style = {};
      const { lines: pieces, rest } = splitLines(part, at);
      if (rest.length) pieces.push([new TextDecoder().decode(rest), at + part.length - rest.length]);
      const before = pieces.map(makeLine);
      style = kept;
      const high = body.scrollHeight;
      earlier.after(...before.map(({ node }) => node));
      lines.unshift(...before);
      first = before.length ? before[0].at : 0;
      if (at === 0 || at > want + LOG_PAGE) first = 0;
      body.scrollTop += body.scrollHeight - high;
      say();
    } catch (failure) {
      fail(failure);
    }
    paging = false;
  };
  const pageOn = async () => {
    const { bytes: part } = await readLogPart(job, attempt(), last, LOG_PAGE);
    if (part.length) take(part);
    if (part.length < LOG_PAGE) stream();
  };
  // Shows the part of the log around an offset.
  const jump = async (offset) => {
    reader?.abort();
    unfollow();
    const want = Math.max(0, offset - LOG_PAGE / 2);
    const { at, bytes: part } = await readLogPart(job, attempt(), want, LOG_PAGE);
    reset('');
    detached = true;
    const cut = at > 0 ? part.indexOf(NEWLINE) + 1 : 0;
    first = last = at + cut;
    take(part.subarray(cut));
  };
  const find = async (step) => {
    if (!found.length) return;
    current = current < 0 ? (step < 0 ? found.length - 1 : 0) : (current + step + found.length) % found.length;
    unfollow();
    const offset = found[current];
    let line = lines.find(({ at }) => at === offset);
    if (!line) {
      await jump(offset).catch(fail);
      line = lines.find(({ at }) => at === offset);
    }
    body.querySelector('.current')?.classList.remove('current');
    line?.node.classList.add('current');
    line?.node.scrollIntoView({ block: 'center' });
    say();
    said.textContent = `${grouped(current + 1)} of ${count(found.length, 'line')}`;
  };
  const startSearch = async () => {
    searching?.abort();
    searching = new AbortController();
    search = input.value.toLowerCase();
    found = [];
    current = -1;
    for (const line of lines) {
      const node = makeLogLine(line, search);
      line.node.replaceWith(node);
      line.node = node;
    }
    say();
    if (!search) return;
    try {
      await searchLog(job, attempt(), search, searching.signal, (offsets) => {
        found = offsets;
        say();
      });
      await find(-1);
    } catch (failure) {
      if (failure.name !== 'AbortError') say(failure.message);
    }
  };

  let typing = null;
  follow.addEventListener('change', () => {
    following = follow.checked;
    if (following && detached) stream();
    toEnd();
  });
  body.addEventListener('wheel', (event) => event.deltaY < 0 && unfollow(), { passive: true });
  body.addEventListener('scroll', () => !following && body.scrollTop < 30 && pageBack(), { passive: true });
  earlier.addEventListener('click', pageBack);
  later.addEventListener('click', () => pageOn().catch(fail));
  input.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(startSearch, 250);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    find(event.shiftKey ? -1 : 1);
  });
  attempts.addEventListener('change', () => {
    chosen = attempts.value ? Number(attempts.value) : null;
    stream();
  });
  const again = () => stream();
  addEventListener('reconnected', again);

  return {
    box: html('div', { class: 'log-box' },
      html('div', { class: 'tools' }, html('label', { class: 'filter' }, html('span', { class: 'unseen' }, 'Search the log'), input),
        html('label', { class: 'check' }, follow, 'Follow'), attempts, said,
        html('a', { class: 'button', href: `api/v1/jobs/${job}/logs`, download: `job-${job}.log` }, 'Download')),
      body),
    read: stream,
    // Offsets are those of one attempt, so a new one is read from its own beginning.
    setAttempts(list) {
      const newest = list.at(-1)?.n ?? 0;
      const fresh = latest && newest > latest && !chosen;
      latest = newest;
      attempts.hidden = list.length < 2;
      render(attempts, html('option', { value: '' }, 'Latest attempt'),
        list.map(({ n }) => html('option', { value: n }, `Attempt ${n}`)));
      if (fresh) stream();
    },
    end() {
      stopped = true;
      clearTimeout(typing);
      removeEventListener('reconnected', again);
      searching?.abort();
      reader?.abort();
    },
  };
}
