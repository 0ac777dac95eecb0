// What the policies come to: the cards, the table of their figures, and what
// these leave out.
'use strict';

// A heading that sorts; `sort` is {key, down}.
function sortHeading(column, sort, onSort) {
  const now = sort.key === column.key;
  return html(
    'th',
    {
      scope: 'col',
      class: column.text && 'text',
      'aria-sort': now && (sort.down ? 'descending' : 'ascending'),
    },
    html(
      'button',
      { type: 'button', title: column.help, onclick: () => onSort(column) },
      column.title,
    ),
  );
}

const seconds = (key, title, help, over) => ({
  key,
  title,
  help,
  over,
  value: (f) => f[key],
  spell: duration,
  exact: exactSeconds,
});
const times = (key, title, help) => ({
  key,
  title,
  help,
  value: (f) => f[key],
  spell: (n) => grouped(n),
});

// Columns that say nothing about this trace are left out.
function policyColumns(policies) {
  const over = 'Completion time';
  const any = (key) => policies.some((p) => p.figures[key]);
  const timed = policies.some((p) => p.figures.decision_p99_us !== null);
  return [
    seconds('mean_jct_s', 'Mean', 'From submission to end, on average', over),
    seconds('median_jct_s', 'Median', 'Half of the jobs complete within this time', over),
    seconds('p95_jct_s', 'p95', '95 % of the jobs complete within this time', over),
    seconds('p99_jct_s', 'p99', '99 % of the jobs complete within this time', over),
    seconds('mean_wait_s', 'Wait', 'Mean time spent waiting'),
    seconds('makespan_s', 'Makespan', 'From the first submission to the last end'),
    any('deadline_jobs') && {
      key: 'deadline_met',
      title: 'Deadlines',
      more: true,
      help: 'Jobs that ended by their deadline',
      value: (f) => f.deadline_met,
      spell: (n, f) => `${grouped(n)} / ${grouped(f.deadline_jobs)}`,
    },
    {
      key: 'worst_fairness',
      title: 'Worst',
      over: 'Fairness',
      help: 'Largest completion time over that with an equal share of the cluster',
      value: (f) => f.worst_fairness,
      spell: (v) => (v === null ? '–' : v.toFixed(2)),
    },
    {
      key: 'unfair',
      title: 'Unfair',
      over: 'Fairness',
      help: 'Share of the jobs for which that ratio is above 1.1',
      value: (f) => f.unfair,
      spell: (v) => (v === null ? '–' : percent(v)),
    },
    {
      key: 'utilization',
      title: 'Used',
      more: true,
      help: 'Share of all units held over the makespan',
      value: (f) => f.utilization,
      spell: (v) => (v === null ? '–' : percent(v)),
    },
    times('preemptions', 'Preempted', 'Times a running job was stopped'),
    times('resizes', 'Resized', 'Times a running job changed its size'),
    times('migrations', 'Moved', 'Times a running job changed its nodes'),
    any('failures') && times('failures', 'Failed', 'Times a job lost its node'),
    any('unfinished') && times('unfinished', 'Unfinished', 'Runnable jobs that did not finish'),
    timed && {
      key: 'decision_p99_us',
      title: 'Decision',
      help: '99th percentile of the time that one decision took',
      value: (f) => f.decision_p99_us,
      spell: (us) =>
        us === null ? '–' : us < 1000 ? `${grouped(us)} µs` : `${grouped(us / 1000, 1)} ms`,
    },
  ].filter(Boolean);
}

// The spelling of the best value, or null when all are the same: two policies
// that read the same are not told apart.
function bestOf(column, policies) {
  const known = policies.filter((p) => column.value(p.figures) !== null);
  if (policies.length < 2 || !known.length) return null;
  const best = known.reduce((a, b) => {
    const x = column.value(a.figures);
    const y = column.value(b.figures);
    return (column.more ? y > x : y < x) ? b : a;
  });
  const text = (p) => column.spell(column.value(p.figures), p.figures);
  return policies.every((p) => text(p) === text(best)) ? null : text(best);
}

function policyRow(p, columns, best) {
  return html(
    'tr',
    html(
      'td',
      swatch(p.index),
      html('span', { class: 'name', title: p.name }, shortened(p.name, 24)),
    ),
    columns.map((c, k) => {
      const value = c.value(p.figures);
      const text = c.spell(value, p.figures);
      return html(
        'td',
        { class: text === best[k] && 'best', title: c.exact && c.exact(value) },
        text,
      );
    }),
  );
}

// A line above the headings that several columns share.
function overHeadings(columns) {
  const cells = [];
  for (const { over } of columns) {
    const last = cells[cells.length - 1];
    if (over && last && last.over === over) last.span++;
    else cells.push({ over, span: 1 });
  }
  return html(
    'tr',
    cells.map((c) =>
      c.over
        ? html('th', { class: 'over', colspan: c.span, scope: 'colgroup' }, html('span', c.over))
        : html('td', { class: 'over' }),
    ),
  );
}

function drawPolicies(report) {
  const { policies } = report;
  const columns = policyColumns(policies);
  const best = columns.map((c) => bestOf(c, policies));
  const name = { key: 'policy', title: 'Policy', text: true, help: 'As it was given' };
  let sort = { key: null, down: false };
  const draw = () => {
    const column = columns.find((c) => c.key === sort.key);
    const sign = sort.down ? -1 : 1;
    const rows = [...policies].sort((a, b) => {
      if (sort.key === 'policy') return sign * a.name.localeCompare(b.name, 'en');
      if (!column) return a.index - b.index;
      const x = column.value(a.figures);
      const y = column.value(b.figures);
      return (x === null) - (y === null) || sign * (x - y) || a.index - b.index;
    });
    byId('policies').replaceChildren(
      html(
        'thead',
        overHeadings([name, ...columns]),
        html(
          'tr',
          [name, ...columns].map((c) =>
            sortHeading(c, sort, (chosen) => {
              sort = {
                key: chosen.key,
                down: sort.key === chosen.key ? !sort.down : Boolean(chosen.more),
              };
              draw();
            }),
          ),
        ),
      ),
      html(
        'tbody',
        rows.map((p) => policyRow(p, columns, best)),
      ),
    );
  };
  draw();
}

// Best and second best of one figure.
function drawCard(policies, what, key, spell, more) {
  const sign = more ? -1 : 1;
  const [best, next] = policies
    .map((p) => ({ name: p.name, value: p.figures[key], text: spell(p.figures[key], p.figures) }))
    .filter((p) => p.value !== null)
    .sort((a, b) => sign * (a.value - b.value));
  if (!best) return null;
  return html(
    'div',
    { class: 'card' },
    html('div', { class: 'what' }, what),
    html('div', { class: 'value' }, best.text),
    next && html('div', { class: 'by name', title: best.name }, shortened(best.name, 27)),
    next && html('div', { class: 'than' }, comparedWith(best, next, more)),
  );
}

function comparedWith(best, next, more) {
  const name = shortened(next.name, 24);
  if (next.text === best.text) return `the same as ${name}`;
  const gap = Math.abs(next.value / best.value - 1);
  if (!Number.isFinite(gap)) return `next: ${name} ${next.text}`;
  const difference = `${more ? '−' : '+'}${(gap * 100).toFixed(gap < 0.1 ? 1 : 0)} %`;
  return `next: ${name} ${next.text} (${difference})`;
}

function drawCards({ policies }) {
  const several = policies.length > 1;
  const met = (n, f) => `${grouped(n)} of ${grouped(f.deadline_jobs)}`;
  const card = (alone, best, ...how) => drawCard(policies, several ? best : alone, ...how);
  const cards = [
    card('Mean completion time', 'Shortest mean completion', 'mean_jct_s', duration),
    card('99th percentile', 'Shortest 99th percentile', 'p99_jct_s', duration),
    policies[0].figures.deadline_jobs
      ? card('Deadlines met', 'Most deadlines met', 'deadline_met', met, true)
      : card('Makespan', 'Shortest makespan', 'makespan_s', duration),
    card('Utilisation', 'Highest utilisation', 'utilization', (v) => percent(v), true),
  ];
  byId('cards').append(...cards.filter(Boolean));
}

// Jobs that no figure of the table counts.
function drawWarnings({ policies }) {
  const never = policies[0].figures.never_runnable;
  const lines = policies
    .filter((p) => p.figures.unfinished)
    .map(
      ({ name, figures }) =>
        `Under ${name}, ${count(figures.unfinished, 'job')} did not finish; ` +
        'its completion times are those of the others only.',
    );
  if (never) {
    const them = never === 1 ? 'it' : 'them';
    lines.unshift(
      `${count(never, 'job')} can never run on this cluster; ` +
        `times, shares and means leave ${them} out.`,
    );
  }
  const paragraphs = lines.map((line) => html('p', line));
  if (lines.length) byId('summary-warn').append(html('div', { class: 'warn' }, paragraphs));
}
