// The curves of several jobs on one chart, over steps or over the time that each ran.
'use strict';

const COMPARED = 8; // as many as there are colours

// Rows with one column for each job; x is shared only where two jobs have the same.
function compareRows(all, axis) {
  const rows = [];
  all.forEach(({ job, samples }, i) => {
    for (const sample of samples) {
      if (sample.metric === null) continue;
      const x = axis === 'step' ? sample.step : sample.at - job.started;
      if (x === null) continue;
      const row = new Array(all.length + 1).fill(null);
      row[0] = x;
      row[i + 1] = sample.metric;
      rows.push(row);
    }
  });
  return rows.sort((a, b) => a[0] - b[0]);
}

const compareName = (job) => [visible(job.name), `(${job.id})`, parameterList(job)].filter(Boolean).join(' ');

// Whether a later curve has the same points: then this one is drawn wider, to be seen under it.
function isCovered(rows, i, n) {
  const points = (column) => rows.filter((row) => row[column + 1] !== null).map((row) => `${row[0]}:${row[column + 1]}`).join();
  const mine = points(i);
  for (let later = i + 1; later < n; later++) if (points(later) === mine) return true;
  return false;
}

function comparePage(main, [list]) {
  const ids = list.split(',').map(Number).filter(Boolean).slice(0, COMPARED);
  const view = { axis: 'step', log: false };
  const box = html('div');
  const table = html('div');
  let chart = null;
  let all = [];
  const pick = (name, options, set) => html('div', { class: 'choice', role: 'group', 'aria-label': name },
    options.map(([text, value], i) => html('button', { type: 'button', 'aria-pressed': String(i === 0), onclick: (event) => {
      for (const button of event.currentTarget.parentNode.children) {
        button.setAttribute('aria-pressed', String(button === event.currentTarget));
      }
      set(value);
      draw();
    } }, text)));
  const draw = () => {
    chart?.end();
    const rows = compareRows(all, view.axis);
    const series = all.map(({ job }, i) => ({ name: compareName(job), colour: `--s${i}`, width: isCovered(rows, i, all.length) ? 6 : 2 }));
    if (rows.length < 2) {
      render(box, html('p', { class: 'empty' }, 'These jobs have reported no values to compare.'));
      return;
    }
    chart = timeChart({ label: 'Metrics of several jobs', class: 'tall', series, rows, zero: false, log: view.log,
      x: { show: (x) => (view.axis === 'step' ? `${grouped(x)}` : duration(x)) } });
    box.replaceChildren(legend(series), chart.box);
  };
  const drawTable = () => render(table, html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Compared jobs' },
    html('table', html('thead', html('tr', ['Job', 'State', 'Last value', 'Steps', 'Steps/s', 'Ran', 'CPU time']
      .map((title, i) => html('th', { scope: 'col', class: i < 2 ? 'text' : '' }, title)))),
    html('tbody', all.map(({ job }, i) => html('tr', { 'data-key': job.id },
      html('td', { class: 'text' }, html('i', { class: `key s${i}` }), jobLink(job),
        html('span', { class: 'dim' }, ` ${parameterList(job)}`)), html('td', { class: 'text' }, statePill(job)),
      html('td', figure(metricOf(job))), html('td', job.progress?.step == null ? '–' : grouped(job.progress.step)), html('td', figure(job.progress?.rate)),
      html('td', duration(job.run_s)), html('td', duration(total(job.attempts, 'cpu_s')))))))));
  const load = async () => {
    all = await Promise.all(ids.map(async (id) => ({
      job: await get(`/jobs/${id}`), samples: (await get(`/jobs/${id}/progress`)).samples })));
    if (!main.isConnected) return;
    draw();
    drawTable();
  };
  main.append(
    html('div', { class: 'heading page-head' }, html('h1', 'Compare'), html('div', { class: 'tools' },
      pick('Horizontal axis', [['Steps', 'step'], ['Time', 'time']], (value) => { view.axis = value; }),
      pick('Vertical axis', [['Linear', false], ['Log', true]], (value) => { view.log = value; }))),
    box, html('section', table),
  );
  load().catch((problem) => render(box, html('p', { class: 'failure' }, visible(problem.message))));
  const again = setInterval(() => all.some(({ job }) => isActive(job)) && !document.hidden && load().catch(() => {}), 5_000);
  return { title: 'Compare', update: () => {}, end() {
    clearInterval(again);
    chart?.end();
  } };
}
