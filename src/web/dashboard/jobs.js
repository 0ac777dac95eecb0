// The list of jobs: found, filtered, sorted, and folded by array. Only the rows in
// view are in the document, so ten thousand jobs scroll as ten do.
'use strict';

const ROW_HEIGHT = 41;

const progressOf = (job) => job.progress?.fraction ?? (job.state === 'done' ? 1 : null);
const metricOf = (job) => job.progress?.loss ?? job.progress?.value ?? null;

// name, heading, value to sort by, cell, classes of the column
const JOB_COLUMNS = [
  { name: 'id', title: 'Id', sort: (job) => job.id, cell: (job) => String(job.id), wide: 'number' },
  { name: 'name', title: 'Name', sort: (job) => job.name.toLowerCase(), cell: (job) => nameCell(job) },
  { name: 'user', title: 'User', sort: (job) => job.user, cell: (job) => visible(job.user), hide: 'narrow' },
  { name: 'state', title: 'State', sort: (job) => STATES.indexOf(job.state), cell: (job) => statePill(job) },
  { name: 'progress', title: 'Progress', sort: (job) => progressOf(job) ?? -1, cell: (job) => progressCell(job) },
  { name: 'metric', title: 'Loss', sort: (job) => metricOf(job) ?? Infinity, cell: (job) => figure(metricOf(job)), wide: 'number', hide: 'narrow' },
  { name: 'size', title: 'Size', sort: (job) => job.cpus + job.gpus, cell: (job) => sizeCell(job), wide: 'number', hide: 'narrow' },
  { name: 'node', title: 'Node', sort: (job) => job.node ?? '', cell: (job) => visible(job.node ?? ''), hide: 'medium' },
  { name: 'submitted', title: 'Submitted', sort: (job) => job.submitted, cell: (job) => clockTime(job.submitted), wide: 'number', hide: 'medium' },
  { name: 'run', title: 'Ran', sort: (job) => job.run_s, cell: (job) => (job.run_s ? duration(job.run_s) : '–'), wide: 'number', hide: 'narrow' },
  { name: 'end', title: 'Ends', sort: (job) => job.ended ?? job.progress?.expected_end ?? Infinity, cell: (job) => endCell(job), wide: 'number', hide: 'medium' },
];

function nameCell(row) {
  if (row.members) {
    return html('button', { type: 'button', class: 'fold', 'data-array': row.array.job,
      'aria-expanded': String(row.open) }, `${row.open ? '▾' : '▸'} `,
      visible(row.name), html('span', { class: 'dim' }, ` ${grouped(row.members.length)} jobs: ${stateMix(row.members)}`));
  }
  if (!row.array) return jobLink(row);
  return [jobLink(row, { class: 'job-link member' }),
    html('span', { class: 'dim' }, ` [${row.array.index}] ${parameterList(row)}`)];
}

// "2 running, 5 done"
function stateMix(members) {
  return STATES.map((state) => [members.filter((job) => job.state === state).length, state])
    .filter(([n]) => n).map(([n, state]) => `${grouped(n)} ${state}`).join(', ');
}

function progressCell(job) {
  const done = progressOf(job);
  if (done === null) return html('span', { class: 'dim' }, stateReason(job));
  return html('span', { class: 'progress' },
    html('progress', { max: 1, value: done, 'aria-label': 'Progress' }), percent(done, 0));
}

const sizeCell = (job) => (job.cpus || job.gpus
  ? [job.cpus && units(job.cpus), job.gpus && `${units(job.gpus)} GPU`].filter(Boolean).join(' + ')
  : '–');

function endCell(job) {
  if (job.ended) return clockTime(job.ended);
  const end = job.progress?.expected_end;
  const risk = deadlineRisk(job);
  if (!end) return html('span', { class: risk ? 'late' : 'dim' }, risk ? `due ${clockTime(job.deadline)}` : '–');
  return html('span', { class: risk ? 'late' : 'dim' }, `~${clockTime(end)}`);
}

// Of a metric's values the one that is shown for several jobs. Which way is better is told by
// the name, as the server does.
const RISES = /acc|auc|f1|bleu|rouge|reward|return|score|recall|precision|iou|map\b|psnr|ssim|fitness/i;

function bestMetric(members) {
  const values = members.map(metricOf).filter((value) => value !== null && Number.isFinite(value));
  if (!values.length) return null;
  const name = members.find((job) => job.progress?.metric)?.progress.metric ?? 'loss';
  return RISES.test(name) && !/loss|error/i.test(name) ? Math.max(...values) : Math.min(...values);
}

// A row that stands for the jobs of an array.
function foldArray(members, open) {
  const first = members.reduce((a, b) => (a.id < b.id ? a : b));
  const states = members.map((job) => job.state);
  const done = members.map((job) => progressOf(job) ?? (isActive(job) ? 0 : 1));
  const state = ['running', 'starting', 'stopping', 'queued', 'held', 'failed', 'timeout', 'lost', 'cancelled', 'done']
    .find((word) => states.includes(word));
  return {
    ...first, members, open, state, paused: false, waits_for: [],
    progress: { fraction: done.reduce((a, b) => a + b, 0) / members.length, loss: bestMetric(members) },
    cpus: total(members, 'cpus'), gpus: total(members, 'gpus'), node: '',
    run_s: total(members, 'run_s'), ended: null, deadline: null,
  };
}

function matches(job, words) {
  if (!words.length) return true;
  const text = `${job.id} ${job.name} ${job.user} ${job.state} ${job.node ?? ''} ${parameterList(job)} ${job.command.join(' ')}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

// The jobs to show, as rows: filtered, folded, sorted.
function jobRows({ search, states, sort, down, fold, open }) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = yard.list((job) => (!states.size || states.has(job.state)) && matches(job, words));
  const rows = fold ? foldRows(found, open) : found;
  const column = JOB_COLUMNS.find(({ name }) => name === sort);
  const order = down ? -1 : 1;
  rows.sort((a, b) => {
    const [x, y] = [column.sort(a), column.sort(b)];
    return (x < y ? -order : x > y ? order : 0) || b.id - a.id;
  });
  return rows.flatMap((row) =>
    row.members && row.open
      ? [row, ...[...row.members].sort((a, b) => a.array.index - b.array.index)]
      : [row]);
}

function foldRows(jobs, open) {
  const arrays = new Map();
  const rows = [];
  for (const job of jobs) {
    if (!job.array) rows.push(job);
    else if (arrays.has(job.array.job)) arrays.get(job.array.job).push(job);
    else arrays.set(job.array.job, [job]);
  }
  for (const [id, members] of arrays) {
    if (members.length === 1) rows.push(members[0]);
    else rows.push(foldArray(members, open.has(id)));
  }
  return rows;
}

// A table of which only the rows in view exist. rows() gives all of them.
function makeJobTable(view, onSort) {
  let rows = [];
  const heads = JOB_COLUMNS.map((column) =>
    html('th', { scope: 'col', class: `${column.wide || ''} ${column.hide || ''} col-${column.name}` },
      html('button', { type: 'button', onclick: () => onSort(column.name) }, column.title)));
  const before = html('tr', { class: 'space', 'aria-hidden': 'true' }, html('td'));
  const after = before.cloneNode(true);
  const body = html('tbody', before, after);
  const table = html('table', { class: 'jobs', 'aria-label': 'Jobs' },
    html('thead', html('tr', html('th', { class: 'pick', scope: 'col' }, html('span', { class: 'unseen' }, 'Compare')), heads)), body);
  const box = html('div', { class: 'list', tabindex: 0, role: 'region', 'aria-label': 'Jobs' }, table);

  const makeRow = (row, index) => html(
    'tr',
    { 'data-key': row.members ? `a${row.id}` : row.id, 'aria-rowindex': index + 2, class: row.members ? 'array' : '' },
    html('td', { class: 'pick' }, !row.members && html('input', { type: 'checkbox', 'data-pick': row.id,
      checked: view.picked.has(row.id), 'aria-label': `Compare ${visible(row.name)}` })),
    JOB_COLUMNS.map((column) =>
      html('td', { class: `${column.wide || ''} ${column.hide || ''} col-${column.name}` }, column.cell(row))),
  );
  const draw = () => {
    const top = Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - 8);
    const shown = Math.ceil((box.clientHeight || 600) / ROW_HEIGHT) + 16;
    const part = rows.slice(top, top + shown);
    before.style.height = `${top * ROW_HEIGHT}px`;
    after.style.height = `${Math.max(0, rows.length - top - part.length) * ROW_HEIGHT}px`;
    table.setAttribute('aria-rowcount', rows.length + 1);
    box.style.height = `${rows.length * ROW_HEIGHT + ROW_HEIGHT + 2}px`;
    replaceRows(body, before, after, part.map((row, i) => makeRow(row, top + i)));
    for (const input of body.querySelectorAll('input[data-pick]')) {
      input.checked = view.picked.has(Number(input.dataset.pick));
    }
  };
  let waiting = false;
  box.addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }, { passive: true });
  return {
    box,
    set(list) {
      rows = list;
      heads.forEach((head, i) => {
        if (JOB_COLUMNS[i].name === view.sort) head.setAttribute('aria-sort', view.down ? 'descending' : 'ascending');
        else head.removeAttribute('aria-sort');
      });
      draw();
    },
    draw,
  };
}

// Rows that stay keep their elements, and with them the focus.
function replaceRows(body, before, after, wanted) {
  const old = new Map([...body.children].map((row) => [row.dataset.key, row]));
  let at = before;
  for (const row of wanted) {
    const kept = old.get(row.dataset.key);
    if (kept) {
      old.delete(row.dataset.key);
      morphNode(kept, row);
    }
    const placed = kept || row;
    if (at.nextSibling !== placed) at.after(placed);
    at = placed;
  }
  while (at.nextSibling !== after) at.nextSibling.remove();
}

function stateChips(view, change) {
  const box = html('div', { class: 'chips', role: 'group', 'aria-label': 'States' });
  box.addEventListener('click', (event) => {
    const state = event.target.closest('button')?.dataset.state;
    if (!state) return;
    if (view.states.has(state)) view.states.delete(state);
    else view.states.add(state);
    change();
  });
  const draw = () => {
    const counts = new Map();
    for (const job of yard.jobs.values()) counts.set(job.state, (counts.get(job.state) || 0) + 1);
    const shown = STATES.filter((state) => counts.has(state) || view.states.has(state));
    render(box, shown.map((state) =>
      html('button', { type: 'button', 'data-state': state, 'data-key': state, 'aria-pressed': String(view.states.has(state)) },
        `${state} `, html('b', grouped(counts.get(state) || 0)))));
  };
  return { box, draw };
}

// Arrow keys move between rows; / goes to the search.
function listKeys(box, search) {
  box.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = document.activeElement.closest('tr[data-key]');
    if (!step || !row) return;
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    const target = next?.querySelector('a, button.fold');
    if (!target) return;
    event.preventDefault();
    target.focus();
  });
  const focusSearch = (event) => {
    if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    search.focus();
  };
  addEventListener('keydown', focusSearch);
  return () => removeEventListener('keydown', focusSearch);
}

const jobsView = { search: '', states: new Set(), sort: 'id', down: true, fold: true, open: new Set(), picked: new Set() };

function jobsPage(main, _, query) {
  const view = jobsView;
  if (query.get('state')) view.states = new Set(query.get('state').split(','));
  const said = html('span', { class: 'dim', role: 'status' });
  const compare = html('a', { class: 'button', hidden: true });
  const more = html('button', { type: 'button', hidden: true, onclick: () => {
    yard.loadEnded(yard.jobs.size + 20_000).catch((problem) => note(problem.message, 'failed'));
  } }, 'Load older jobs');
  const empty = html('div', { class: 'empty', hidden: true });
  const search = html('input', { type: 'search', placeholder: 'name, user, command, id …', value: view.search,
    autocomplete: 'off', spellcheck: 'false' });
  const fold = html('input', { type: 'checkbox', checked: view.fold });
  const table = makeJobTable(view, (name) => {
    view.down = view.sort === name ? !view.down : ['id', 'submitted', 'progress', 'size', 'run'].includes(name);
    view.sort = name;
    draw();
  });
  const chips = stateChips(view, () => draw());
  const draw = () => {
    const rows = jobRows(view);
    chips.draw();
    table.set(rows);
    said.textContent = `${grouped(rows.length)} of ${count(yard.jobs.size, 'job')}${yard.complete ? '' : ' loaded so far'}`;
    table.box.hidden = !rows.length;
    empty.hidden = Boolean(rows.length);
    render(empty, yard.jobs.size
      ? html('p', 'No job matches. Remove a filter, or look for something else.')
      : html('p', 'No jobs yet. ', html('a', { href: '#/submit' }, 'Submit the first'), ', or run ',
          html('code', 'trainyard submit -c 1-4 -- python3 train.py'), '.'));
    more.hidden = yard.complete || yard.loadingEnded;
    compare.hidden = view.picked.size < 2;
    compare.href = `#/compare/${[...view.picked].join(',')}`;
    compare.textContent = `Compare ${view.picked.size}`;
  };
  search.addEventListener('input', () => {
    view.search = search.value;
    table.box.scrollTop = 0;
    draw();
  });
  fold.addEventListener('change', () => {
    view.fold = fold.checked;
    draw();
  });
  table.box.addEventListener('click', (event) => {
    const array = Number(event.target.closest('.fold')?.dataset.array);
    if (!array) return;
    if (view.open.has(array)) view.open.delete(array);
    else view.open.add(array);
    draw();
  });
  table.box.addEventListener('change', (event) => {
    const id = Number(event.target.dataset.pick);
    if (event.target.checked && view.picked.size >= COMPARED) {
      event.target.checked = false;
      note(`At most ${COMPARED} jobs are compared at once. Untick another one first.`, 'failed');
      return;
    }
    if (event.target.checked) view.picked.add(id);
    else view.picked.delete(id);
    draw();
  });
  const stopKeys = listKeys(table.box, search);
  main.append(
    html('div', { class: 'heading page-head' }, html('h1', 'Jobs'),
      yard.maySubmit() && html('a', { class: 'button primary', href: '#/submit' }, 'Submit a job')),
    html('div', { class: 'tools' }, html('label', { class: 'filter' }, html('span', { class: 'unseen' }, 'Search'), search),
      html('label', { class: 'check' }, fold, 'Fold arrays'), said, more, compare),
    chips.box, table.box, empty,
  );
  draw();
  yard.loadEnded().catch((problem) => note(problem.message, 'failed'));
  // Progress changes many rows many times a second; the eye follows one a second.
  const second = setInterval(() => table.draw(), 1000);
  return {
    title: 'Jobs',
    update: (kind) => kind !== 'progress' && draw(),
    end() {
      clearInterval(second);
      stopKeys();
    },
  };
}
