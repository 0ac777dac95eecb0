// The jobs of one policy in a table, and one job under every policy.
'use strict';

const OUTCOMES = ['done', 'never runnable', 'unfinished'];

// Columns of the table of jobs; `value` is what is sorted.
function jobColumns(report, rows) {
  const { jobs } = report;
  const any = (values) => values.some((v) => v > 0);
  const time = (key, title, help, values, spell = duration) => ({
    key,
    title,
    help,
    value: (i) => values[i],
    cell: (i) =>
      html(
        'td',
        { title: Number.isNaN(values[i]) ? null : exactSeconds(values[i]) },
        spell(values[i]),
      ),
  });
  const number = (key, title, help) =>
    any(rows[key]) && {
      key,
      title,
      help,
      value: (i) => rows[key][i],
      cell: (i) => html('td', { class: rows[key][i] ? null : 'dim' }, grouped(rows[key][i])),
    };
  const slack = (i) => jobs.deadline[i] - rows.end[i];
  return [
    jobs.hasGroups && {
      key: 'group',
      title: 'Group',
      text: true,
      help: 'Model, user or virtual cluster',
      value: (i) => jobs.group[i],
      cell: (i) => html('td', { class: 'text' }, html('bdi', shortened(jobs.group[i], 24))),
    },
    {
      key: 'units',
      title: `${report.unit}s`,
      help: 'Asked for',
      value: (i) => jobs.units[i],
      cell: (i) => html('td', String(+jobs.units[i].toFixed(3))),
    },
    time('submit', 'Submitted', 'Since the first submission', jobs.submit, moment),
    time('wait', 'Waited', 'In all', rows.wait),
    time('run', 'Ran', 'In all', rows.run),
    time('jct', 'Completed in', 'From submission to end', rows.jct),
    report.policies[0].figures.deadline_jobs > 0 && {
      key: 'slack',
      title: 'Deadline',
      help: 'Time left at the end, or how late',
      value: slack,
      cell: (i) => deadlineCell(jobs.deadline[i], rows.end[i]),
    },
    number('preemptions', 'Preempted', 'Times'),
    number('resizes', 'Resized', 'Times'),
    number('moves', 'Moved', 'Times'),
    number('failures', 'Failed', 'Times'),
    rows.outcome.some((o) => o > 0) && {
      key: 'outcome',
      title: 'Outcome',
      text: true,
      value: (i) => rows.outcome[i],
      cell: (i) =>
        html(
          'td',
          { class: rows.outcome[i] ? 'text late' : 'text dim' },
          OUTCOMES[rows.outcome[i]],
        ),
    },
  ].filter(Boolean);
}

function deadlineCell(due, end) {
  if (Number.isNaN(due)) return html('td', { class: 'dim' }, '–');
  if (Number.isNaN(end)) return html('td', { class: 'late' }, 'missed');
  return end <= due
    ? html('td', `${duration(due - end)} left`)
    : html('td', { class: 'late' }, `${duration(end - due)} late`);
}

const JOB_NAME = {
  key: 'name',
  title: 'Job',
  text: true,
  help: 'Choose one to see it in the chart',
};

// The jobs of one policy: filtered by text, sorted, a hundred at a time.
class JobTable {
  constructor(report, onPick) {
    Object.assign(this, {
      report,
      onPick,
      page: 0,
      size: 100,
      sort: { key: 'submit', down: false },
    });
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
    const { jobs } = this.report;
    const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    this.found = [];
    for (let i = 0; i < jobs.n; i++) {
      const about = [jobs.name[i], jobs.group[i], jobs.id[i], OUTCOMES[this.rows.outcome[i]]];
      const text = words.length ? about.join(' ').toLowerCase() : '';
      if (words.every((w) => text.includes(w))) this.found.push(i);
    }
    this.resort();
  }

  resort() {
    const name = { value: (i) => this.report.jobs.name[i] };
    const sign = this.sort.down ? -1 : 1;
    const column = this.columns.find((c) => c.key === this.sort.key) || name;
    const compare = (x, y) => (typeof x === 'string' ? (x < y ? -1 : x > y ? 1 : 0) : x - y);
    this.found.sort((a, b) => {
      const x = column.value(a);
      const y = column.value(b);
      // What has no value is last, whichever way it is sorted.
      return Number.isNaN(x) - Number.isNaN(y) || sign * compare(x, y) || a - b;
    });
    this.page = 0;
    this.draw();
  }

  draw() {
    const from = this.page * this.size;
    const shown = this.found.slice(from, from + this.size);
    const onSort = ({ key }) => {
      this.sort = { key, down: this.sort.key === key && !this.sort.down };
      this.resort();
    };
    const heads = [JOB_NAME, ...this.columns].map((c) => sortHeading(c, this.sort, onSort));
    byId('job-table').replaceChildren(
      html('thead', html('tr', heads)),
      html(
        'tbody',
        shown.map((i) => this.makeRow(i)),
      ),
    );
    this.drawPager(from, shown.length);
  }

  makeRow(i) {
    const attributes = { type: 'button', class: 'link name', onclick: () => this.onPick(i) };
    const name = html('button', attributes, html('bdi', this.report.jobs.name[i]));
    return html(
      'tr',
      { 'data-job': i },
      html('td', name),
      this.columns.map((c) => c.cell(i)),
    );
  }

  drawPager(from, n) {
    const pages = Math.max(1, Math.ceil(this.found.length / this.size));
    const button = (page, text, label) =>
      html(
        'button',
        {
          type: 'button',
          'aria-label': label,
          disabled: page < 0 || page >= pages,
          onclick: () => {
            this.page = page;
            this.draw();
          },
        },
        text,
      );
    const text = n
      ? `${grouped(from + 1)}–${grouped(from + n)} of ${count(this.found.length, 'job')}`
      : 'No job matches';
    document
      .querySelectorAll('.pager')
      .forEach((pager, k) =>
        pager.replaceChildren(
          html('span', k ? {} : { role: 'status' }, text),
          button(this.page - 1, '←', 'Previous page'),
          button(this.page + 1, '→', 'Next page'),
        ),
      );
  }
}

// One row of the details: what became of the job under one policy.
function jobRow(p, job, due) {
  const r = p.rows();
  return html(
    'tr',
    html('td', swatch(p.index), html('span', { class: 'name' }, shortened(p.name, 40))),
    html('td', Number.isNaN(r.start[job]) ? '–' : `at ${moment(r.start[job])}`),
    html('td', duration(r.wait[job])),
    html('td', duration(r.run[job])),
    html('td', Number.isNaN(r.jct[job]) ? OUTCOMES[r.outcome[job]] : duration(r.jct[job])),
    Number.isNaN(due) ? null : deadlineCell(due, r.end[job]),
    ['preemptions', 'resizes', 'moves'].map((key) => html('td', grouped(r[key][job]))),
  );
}

// One job under every policy.
function drawJob(report, job, inChart) {
  const { jobs } = report;
  const due = jobs.deadline[job];
  const dated = !Number.isNaN(due);
  const facts = [
    jobs.group[job],
    `${+jobs.units[job].toFixed(3)} ${report.unit}${jobs.units[job] === 1 ? '' : 's'}`,
    `submitted at ${moment(jobs.submit[job])}`,
    dated && `due ${duration(due - jobs.submit[job])} later`,
  ].filter(Boolean);
  const why =
    report.ganttStride > 1
      ? 'This job is not among those that the chart above shows.'
      : 'This job never ran under the policy chosen above.';
  const heads = [
    'Policy',
    'Started',
    'Waited',
    'Ran',
    'Completed in',
    dated && 'Deadline',
    'Preempted',
    'Resized',
    'Moved',
  ].filter(Boolean);
  byId('job').replaceChildren(
    html('h3', { class: 'name' }, html('bdi', jobs.name[job])),
    html('p', facts.join(' · ')),
    inChart ? '' : html('p', { class: 'late' }, why),
    html(
      'div',
      { class: 'scroll' },
      html(
        'table',
        html(
          'thead',
          html(
            'tr',
            heads.map((h) => html('th', { scope: 'col' }, h)),
          ),
        ),
        html(
          'tbody',
          report.policies.map((p) => jobRow(p, job, due)),
        ),
      ),
    ),
  );
}
