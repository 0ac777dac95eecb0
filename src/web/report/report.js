// Puts the page together: heading, cards, sections, and what they share: which
// policies are shown, which one is chosen, which job is picked.
'use strict';

function clusterInWords({ nodes, pools }) {
  const what = pools.map(([name, units]) => {
    const known = /^(cpu|gpu)$/i.test(name);
    return known ? `${grouped(units)} ${name.toUpperCase()}s` : `${grouped(units)} ${name} GPUs`;
  });
  return `${count(nodes, 'node')} with ${what.join(', ') || 'nothing'}`;
}

function drawHead(report) {
  const jobs = report.policies[0].figures.jobs;
  byId('title').textContent = visible(baseName(report.trace));
  byId('subtitle').textContent = [count(jobs, 'job'), clusterInWords(report.cluster),
    count(report.policies.length, 'policy', 'policies')].join(' · ');
  for (const section of document.querySelectorAll('section[data-nav]:not([hidden])')) {
    byId('nav').append(html('a', { href: `#${section.id}` }, section.dataset.nav));
  }
}

// Best and second best of one figure.
function drawCard(policies, what, key, spell, more) {
  const known = policies.filter((p) => p.figures[key] !== null)
    .sort((a, b) => (more ? -1 : 1) * (a.figures[key] - b.figures[key]) || a.index - b.index);
  if (!known.length) return null;
  const [best, next] = known, gap = next && Math.abs(next.figures[key] / best.figures[key] - 1);
  const tied = next && spell(next.figures[key], next.figures) === spell(best.figures[key], best.figures);
  const than = !next ? '' : tied ? `the same as ${shortened(next.name, 24)}`
    : `${shortened(next.name, 24)} ${spell(next.figures[key], next.figures)}${Number.isFinite(gap) ? ` (${more ? '−' : '+'}${(gap * 100).toFixed(gap < 0.1 ? 1 : 0)} %)` : ''}`;
  return html('div', { class: 'card' }, html('div', { class: 'what' }, what),
    html('div', { class: 'value' }, spell(best.figures[key], best.figures)),
    next && html('div', { class: 'by', title: best.name }, html('span', { class: 'name' }, shortened(best.name, 27))),
    next && html('div', { class: 'than' }, tied ? than : `next: ${than}`));
}

function drawCards(report) {
  const { policies } = report, several = policies.length > 1, dated = policies[0].figures.deadline_jobs > 0;
  const title = (alone, best) => (several ? best : alone);
  const cards = [
    drawCard(policies, title('Mean completion time', 'Shortest mean completion'), 'mean_jct_s', duration),
    drawCard(policies, title('99th percentile', 'Shortest 99th percentile'), 'p99_jct_s', duration),
    dated && drawCard(policies, title('Deadlines met', 'Most deadlines met'), 'deadline_met', (n, f) => `${grouped(n)} of ${grouped(f.deadline_jobs)}`, true),
    !dated && drawCard(policies, title('Makespan', 'Shortest makespan'), 'makespan_s', duration),
    drawCard(policies, title('Utilisation', 'Highest utilisation'), 'utilization', (v) => percent(v), true),
  ];
  byId('cards').append(...cards.filter(Boolean));
}

// Jobs that no figure of the table counts.
function drawWarnings(report) {
  const lines = [], never = report.policies[0].figures.never_runnable;
  if (never) lines.push(`${count(never, 'job')} ${never === 1 ? 'is' : 'are'} larger than the cluster and can never run; times, shares and means leave ${never === 1 ? 'it' : 'them'} out.`);
  for (const { name, figures } of report.policies) {
    if (figures.unfinished) lines.push(`Under ${name}, ${count(figures.unfinished, 'job')} did not finish; its completion times are those of the others only.`);
  }
  if (lines.length) byId('summary-warn').append(html('div', { class: 'warn' }, lines.map((l) => html('p', {}, l))));
}

// What a sampled chart or table leaves out is said beside it.
function drawNotes(report) {
  const { policies, stride, ganttStride, jobs } = report, all = policies[0].figures.jobs;
  byId('summary-note').textContent = policies.length > 1
    ? 'Completion times are from submission to end. The best of each column is marked; choose a heading to sort by it.'
    : 'Completion times are from submission to end.';
  const sliced = policies.some((p) => p.queue && p.queue.lo);
  byId('load-note').textContent = 'Time runs from the first submission.' + (sliced
    ? ' Lines are means of 500 equal slices of it, tinted bands reach from the lowest to the highest value in a slice.' : '');
  byId('used-title').textContent = `${report.unit}s in use`;
  byId('gantt-note').append(`A row for each job in the order of their starts, a bar while it holds ${report.unit}s, a pale line while it waits.`,
    jobs.deadline.every(Number.isNaN) ? '' : ' An upright mark is a deadline, orange where it was missed.');
  if (ganttStride > 1) byId('gantt-note').append(' ', html('strong', {}, `A sample: every ${grouped(ganttStride)}th of ${count(all, 'job')}, to keep this file small.`));
  if (policies.some((p) => p.segments.cut)) byId('gantt-note').append(' ', html('strong', {}, 'The bars of jobs that changed very often end early.'));
  byId('jobs-note').append(stride > 1
    ? html('strong', {}, `A sample: every ${grouped(stride)}th of ${count(all, 'job')}. The figures above are of all jobs; --jobs-csv writes every row.`)
    : 'Every job of the trace. Choose one to see it in the chart above.');
}

function drawRamp(report, shades) {
  const one = `${report.unit}`, key = (colour, text) => html('span', {}, html('i', { style: `background:${colour}` }), text);
  byId('gantt-ramp').append(...shades.from.map((from, k) => {
    const next = shades.from[k + 1], to = next ? next - 1 : shades.most, text = from < to ? `${from} to ${to}` : `${from}`;
    return key(`var(--u${shades.ramp(k)})`, k ? text : `${text} ${one}${to > 1 ? 's' : ''}`);
  }), key('var(--wait)', 'waiting'));
}

function drawMethod(report) {
  const tick = report.tick >= 1 ? 'whole seconds' : 'milliseconds';
  const entries = [
    ['Trace', html('span', { class: 'name' }, visible(report.trace))],
    ['Cluster', [html('span', { class: 'name' }, visible(report.nodes)), `: ${clusterInWords(report.cluster)}`]],
    ['Time', `0 is the first submission, ${exactSeconds(report.origin)} in the trace's own time.${report.exact ? '' : ` This page rounds times to ${tick}; the simulation counts microseconds.`}`],
    ['Completion time', 'From a job’s submission to its end. Means and percentiles are over the jobs that finished.'],
    ['Percentiles', 'By nearest rank: p95 is the smallest completion time that 95 % of the finished jobs do not exceed. The median is p50.'],
    ['Wait', 'All the time that a job was in the system and neither ran nor was being restarted, also after a preemption.'],
    ['Makespan', 'From the first submission of the trace to the last end.'],
    ['Used', `Sum of ${report.unit}s held times how long, divided by all ${report.unit}s of the cluster times the makespan.`],
    ['Deadlines', 'Met when the job ended no later. A job that did not finish, or could never run, missed its deadline.'],
    ['Preempted, resized, moved', 'How often a running job was stopped, changed its number of units, or changed its nodes.'],
    ['Decision', 'The 99th percentile of the time that the policy took for one decision, on the machine that ran the simulation.'],
  ];
  byId('method-list').append(...entries.flatMap(([what, text]) => [html('dt', {}, what), html('dd', {}, text)]));
}

// Each chart with several policies has a legend; a click hides or shows one.
function drawLegends(report, redraw) {
  const boxes = document.querySelectorAll('[data-legend]');
  if (report.policies.length < 2) return;
  const draw = () => boxes.forEach((box) => box.replaceChildren(...report.policies.map((p) =>
    html('button', { type: 'button', 'aria-pressed': String(p.shown), title: 'Show or hide', onclick: () => {
      p.shown = !p.shown;
      draw();
      redraw();
    } }, swatch(p.index), html('span', { class: 'name' }, p.name)))));
  draw();
}

// The selectors of the chart and of the table move together.
function drawPicks(report, onChoose) {
  const labels = [...document.querySelectorAll('[data-pick]')];
  if (report.policies.length < 2) return;
  const selects = labels.map((label) => {
    const select = html('select', { onchange: (event) => {
      selects.forEach((s) => { s.value = event.target.value; });
      onChoose(Number(event.target.value));
    } }, report.policies.map((p) => html('option', { value: p.index }, p.name)));
    label.append('Policy', select);
    return select;
  });
}

function drawAllocation(report) {
  const gantt = new Gantt(report, byId('gantt'));
  drawRamp(report, gantt.shades);
  const pick = (job, framed) => {
    const there = gantt.pick(job, !framed);
    if (framed) gantt.frame(job);
    drawJob(report, job, there);
  };
  const table = new JobTable(report, (job) => {
    pick(job, true);
    byId('allocation').scrollIntoView({ block: 'start' });
    byId('gantt').focus({ preventScroll: true });
  });
  listenGantt(gantt, (job) => pick(job, false));
  const choose = (index) => {
    const policy = report.policies[index];
    gantt.setPolicy(policy);
    table.setPolicy(policy);
    if (gantt.picked >= 0) pick(gantt.picked, false);
  };
  drawPicks(report, choose);
  choose(0);
}

function wireTheme() {
  const buttons = document.querySelectorAll('button[data-theme]');
  const mark = () => buttons.forEach((b) => b.setAttribute('aria-pressed', b.dataset.theme === theme.chosen));
  buttons.forEach((b) => b.addEventListener('click', () => {
    theme.choose(b.dataset.theme);
    mark();
  }));
  mark();
}

function main() {
  wireTheme();
  const report = readReport(JSON.parse(byId('data').textContent));
  const shown = () => report.policies.filter((p) => p.shown);
  drawCards(report);
  drawPolicies(report);
  drawWarnings(report);
  drawNotes(report);
  const charts = [drawCdf(report, shown), drawQueue(report, shown)].filter(Boolean);
  drawLegends(report, () => charts.forEach((chart) => chart.draw()));
  drawUsed(report);
  drawDeadlines(report);
  drawHead(report);
  drawAllocation(report);
  drawMethod(report);
  document.documentElement.dataset.ready = 'yes';
}

try {
  main();
} catch (failure) {
  byId('failure').textContent = `This report could not be drawn: ${failure.message}`;
  byId('failure').hidden = false;
  throw failure;
}
