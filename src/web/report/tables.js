// The tables: figures of the policies, the jobs of one policy, and one job
// under every policy.
'use strict';

const OUTCOMES = ['done', 'never runnable', 'unfinished'];

// A heading that sorts; `sort` is {key, down}.
function sortHeading(column, sort, onSort) {
  const now = sort.key === column.key;
  return html('th', { scope: 'col', class: column.text && 'text', 'aria-sort': now && (sort.down ? 'descending' : 'ascending') },
    html('button', { type: 'button', title: column.help, onclick: () => onSort(column) }, column.title));
}

const seconds = (key, title, help, over) => ({ key, title, help, over, value: (f) => f[key], spell: duration, exact: exactSeconds });
const times = (key, title, help) => ({ key, title, help, value: (f) => f[key], spell: (n) => grouped(n) });

// Columns that say nothing about this trace are left out.
function policyColumns(policies) {
  const any = (key) => policies.some((p) => p.figures[key]);
  const timed = policies.some((p) => p.figures.decision_p99_us !== null);
  return [
    seconds('mean_jct_s', 'Mean', 'Mean completion time: from submission to end', 'Completion time'),
    seconds('median_jct_s', 'Median', 'Half of the jobs complete within this time', 'Completion time'),
    seconds('p95_jct_s', 'p95', '95 % of the jobs complete within this time', 'Completion time'),
    seconds('p99_jct_s', 'p99', '99 % of the jobs complete within this time', 'Completion time'),
    seconds('mean_wait_s', 'Wait', 'Mean time spent waiting'),
    seconds('makespan_s', 'Makespan', 'From the first submission to the last end'),
    any('deadline_jobs') && { key: 'deadline_met', title: 'Deadlines', more: true, help: 'Jobs that ended by their deadline',
      value: (f) => f.deadline_met, spell: (n, f) => `${grouped(n)} / ${grouped(f.deadline_jobs)}` },
    { key: 'utilization', title: 'Used', more: true, help: 'Share of all units held over the makespan',
      value: (f) => f.utilization, spell: (v) => (v === null ? '–' : percent(v)) },
    times('preemptions', 'Preempted', 'Times a running job was stopped'),
    times('resizes', 'Resized', 'Times a running job changed its size'),
    times('migrations', 'Moved', 'Times a running job changed its nodes'),
    any('failures') && times('failures', 'Failed', 'Times a job lost its node'),
    any('unfinished') && times('unfinished', 'Unfinished', 'Runnable jobs that did not finish'),
    timed && { key: 'decision_p99_us', title: 'Decision', help: '99th percentile of the time that one decision took',
      value: (f) => f.decision_p99_us, spell: (us) => (us === null ? '–' : us < 1000 ? `${grouped(us)} µs` : `${grouped(us / 1000, 1)} ms`) },
  ].filter(Boolean);
}

// The spelling of the best value, or null when all are the same: two policies
// that read the same are not told apart.
function bestOf(column, policies) {
  const known = policies.filter((p) => column.value(p.figures) !== null);
  if (policies.length < 2 || !known.length) return null;
  const best = known.reduce((a, b) => {
    const x = column.value(a.figures), y = column.value(b.figures);
    return (column.more ? y > x : y < x) ? b : a;
  });
  const text = (p) => column.spell(column.value(p.figures), p.figures);
  return policies.every((p) => text(p) === text(best)) ? null : text(best);
}

function policyRow(p, columns, best) {
  return html('tr', {}, html('td', {}, swatch(p.index), html('span', { class: 'name', title: p.name }, shortened(p.name, 24))),
    columns.map((c, k) => {
      const value = c.value(p.figures), text = c.spell(value, p.figures);
      return html('td', { class: text === best[k] && 'best', title: c.exact && c.exact(value) }, text);
    }));
}

// A line above the headings that several columns share.
function overHeadings(columns) {
  const cells = [];
  for (const { over } of columns) {
    const last = cells[cells.length - 1];
    if (over && last && last.over === over) last.span++;
    else cells.push({ over, span: 1 });
  }
  return html('tr', {}, cells.map((c) => (c.over
    ? html('th', { class: 'over', colspan: c.span, scope: 'colgroup' }, html('span', {}, c.over))
    : html('td', { class: 'over' }))));
}

function drawPolicies(report) {
  const { policies } = report, columns = policyColumns(policies);
  const best = columns.map((c) => bestOf(c, policies));
  const name = { key: 'policy', title: 'Policy', text: true, help: 'As it was given' };
  let sort = { key: null, down: false };
  const draw = () => {
    const column = columns.find((c) => c.key === sort.key), sign = sort.down ? -1 : 1;
    const rows = [...policies].sort((a, b) => {
      if (sort.key === 'policy') return sign * a.name.localeCompare(b.name, 'en');
      if (!column) return a.index - b.index;
      const x = column.value(a.figures), y = column.value(b.figures);
      return (x === null) - (y === null) || sign * (x - y) || a.index - b.index;
    });
    byId('policies').replaceChildren(
      html('thead', {}, overHeadings([name, ...columns]), html('tr', {}, [name, ...columns].map((c) => sortHeading(c, sort, (chosen) => {
        sort = { key: chosen.key, down: sort.key === chosen.key ? !sort.down : Boolean(chosen.more) };
        draw();
      })))),
      html('tbody', {}, rows.map((p) => policyRow(p, columns, best))));
  };
  draw();
}

// Columns of the table of jobs; `value` is what is sorted.
function jobColumns(report, rows) {
  const { jobs } = report, any = (values) => values.some((v) => v > 0);
  const time = (key, title, help, values, spell = duration) => ({ key, title, help, value: (i) => values[i],
    cell: (i) => html('td', { title: Number.isNaN(values[i]) ? null : exactSeconds(values[i]) }, spell(values[i])) });
  const number = (key, title, help) => any(rows[key]) && { key, title, help, value: (i) => rows[key][i],
    cell: (i) => html('td', { class: rows[key][i] ? null : 'dim' }, grouped(rows[key][i])) };
  const slack = (i) => jobs.deadline[i] - rows.end[i];
  return [
    jobs.hasGroups && { key: 'group', title: 'Group', text: true, help: 'Model, user or virtual cluster', value: (i) => jobs.group[i],
      cell: (i) => html('td', { class: 'text' }, html('bdi', {}, shortened(jobs.group[i], 24))) },
    { key: 'units', title: `${report.unit}s`, help: 'Asked for', value: (i) => jobs.units[i],
      cell: (i) => html('td', {}, String(+jobs.units[i].toFixed(3))) },
    time('submit', 'Submitted', 'Since the first submission', jobs.submit, moment),
    time('wait', 'Waited', 'In all', rows.wait),
    time('run', 'Ran', 'In all', rows.run),
    time('jct', 'Completed in', 'From submission to end', rows.jct),
    report.policies[0].figures.deadline_jobs > 0 && { key: 'slack', title: 'Deadline', help: 'Time left at the end, or how late', value: slack,
      cell: (i) => deadlineCell(jobs.deadline[i], rows.end[i]) },
    number('preemptions', 'Preempted', 'Times'), number('resizes', 'Resized', 'Times'),
    number('moves', 'Moved', 'Times'), number('failures', 'Failed', 'Times'),
    rows.outcome.some((o) => o > 0) && { key: 'outcome', title: 'Outcome', text: true, value: (i) => rows.outcome[i],
      cell: (i) => html('td', { class: rows.outcome[i] ? 'text late' : 'text dim' }, OUTCOMES[rows.outcome[i]]) },
  ].filter(Boolean);
}

function deadlineCell(due, end) {
  if (Number.isNaN(due)) return html('td', { class: 'dim' }, '–');
  if (Number.isNaN(end)) return html('td', { class: 'late' }, 'missed');
  return end <= due ? html('td', {}, `${duration(due - end)} left`) : html('td', { class: 'late' }, `${duration(end - due)} late`);
}

// The jobs of one policy: filtered by text, sorted, a hundred at a time.
class JobTable {
  constructor(report, onPick) {
    Object.assign(this, { report, onPick, page: 0, size: 100, sort: { key: 'submit', down: false } });
    let timer;
    byId('filter').addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.refilter(), 120);
    });
  }

  setPolicy(policy) {
    this.rows = policy.rows();
    this.columns = jobColumns(this.report, this.rows);
    this.refilter();
  }

  refilter() {
    const { jobs } = this.report, words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    this.found = [];
    for (let i = 0; i < jobs.n; i++) {
      const text = words.length && `${jobs.name[i]} ${jobs.group[i]} ${jobs.id[i]} ${OUTCOMES[this.rows.outcome[i]]}`.toLowerCase();
      if (words.every((w) => text.includes(w))) this.found.push(i);
    }
    this.resort();
  }

  resort() {
    const name = { value: (i) => this.report.jobs.name[i] }, sign = this.sort.down ? -1 : 1;
    const column = this.columns.find((c) => c.key === this.sort.key) || name;
    const compare = (x, y) => (typeof x === 'string' ? (x < y ? -1 : x > y ? 1 : 0) : x - y);
    this.found.sort((a, b) => {
      const x = column.value(a), y = column.value(b);
      // What has no value is last, whichever way it is sorted.
      return Number.isNaN(x) - Number.isNaN(y) || sign * compare(x, y) || a - b;
    });
    this.page = 0;
    this.draw();
  }

  draw() {
    const from = this.page * this.size, shown = this.found.slice(from, from + this.size);
    const name = { key: 'name', title: 'Job', text: true, help: 'Choose one to see it in the chart' };
    byId('job-table').replaceChildren(
      html('thead', {}, html('tr', {}, [name, ...this.columns].map((c) => sortHeading(c, this.sort, (chosen) => {
        this.sort = { key: chosen.key, down: this.sort.key === chosen.key && !this.sort.down };
        this.resort();
      })))),
      html('tbody', {}, shown.map((i) => html('tr', { 'data-job': i },
        html('td', {}, html('button', { type: 'button', class: 'link name', onclick: () => this.onPick(i) },
          html('bdi', {}, this.report.jobs.name[i]))),
        this.columns.map((c) => c.cell(i))))));
    this.drawPager(from, shown.length);
  }

  drawPager(from, n) {
    const pages = Math.max(1, Math.ceil(this.found.length / this.size));
    const button = (page, text, label) => html('button', { type: 'button', 'aria-label': label, disabled: page < 0 || page >= pages,
      onclick: () => { this.page = page; this.draw(); } }, text);
    const text = n ? `${grouped(from + 1)}–${grouped(from + n)} of ${count(this.found.length, 'job')}` : 'No job matches';
    document.querySelectorAll('.pager').forEach((pager, k) => pager.replaceChildren(
      html('span', k ? {} : { role: 'status' }, text),
      button(this.page - 1, '←', 'Previous page'), button(this.page + 1, '→', 'Next page')));
  }
}

// One job under every policy.
function drawJob(report, job, inChart) {
  const { jobs } = report, due = jobs.deadline[job];
  const facts = [jobs.group[job], `${+jobs.units[job].toFixed(3)} ${report.unit}${jobs.units[job] === 1 ? '' : 's'}`,
    `submitted at ${moment(jobs.submit[job])}`, Number.isNaN(due) ? '' : `due ${duration(due - jobs.submit[job])} later`].filter(Boolean);
  const heads = ['Policy', 'Started', 'Waited', 'Ran', 'Completed in', ...(Number.isNaN(due) ? [] : ['Deadline']), 'Preempted', 'Resized', 'Moved'];
  byId('job').replaceChildren(
    html('h3', { class: 'name' }, html('bdi', {}, jobs.name[job])), html('p', {}, facts.join(' · ')),
    inChart ? '' : html('p', { class: 'late' }, report.ganttStride > 1
      ? 'This job is not among those that the chart above shows.' : 'This job never ran under the policy chosen above.'),
    html('div', { class: 'scroll' }, html('table', {},
      html('thead', {}, html('tr', {}, heads.map((h) => html('th', { scope: 'col' }, h)))),
      html('tbody', {}, report.policies.map((p) => {
        const r = p.rows(), cell = (text) => html('td', {}, text);
        return html('tr', {}, html('td', {}, swatch(p.index), html('span', { class: 'name' }, shortened(p.name, 40))),
          cell(Number.isNaN(r.start[job]) ? '–' : `at ${moment(r.start[job])}`), cell(duration(r.wait[job])), cell(duration(r.run[job])),
          cell(Number.isNaN(r.jct[job]) ? OUTCOMES[r.outcome[job]] : duration(r.jct[job])),
          Number.isNaN(due) ? '' : deadlineCell(due, r.end[job]),
          cell(grouped(r.preemptions[job])), cell(grouped(r.resizes[job])), cell(grouped(r.moves[job])));
      })))));
}
