// The curves of a job: its metrics with the sizes under them, step rate and memory, all on one
// time axis that also shows its expected end and its deadline.
'use strict';

// ---- series

// Differences of a growing number per second, between samples of one attempt.
function rateOf(samples, member) {
  return samples.map((sample, i) => {
    const last = samples[i - 1];
    if (!last || last.attempt !== sample.attempt || sample[member] === null || last[member] === null) return null;
    const span = sample.at - last.at;
    return span > 0 ? Math.max(0, (sample[member] - last[member]) / span) : null;
  });
}

const WINDOW = 9;

// The mean of the last few values: single samples are rough.
function smooth(values) {
  return values.map((value, i) => {
    if (value === null) return null;
    const near = values.slice(Math.max(0, i - WINDOW + 1), i + 1).filter((v) => v !== null);
    return near.reduce((a, b) => a + b, 0) / near.length;
  });
}

// Sizes as steps: each change holds until the next, the last until the end or now.
function sizeRows(job, samples, member) {
  const end = (job.ended ?? Math.max(nowSeconds(), samples.at(-1)?.at ?? 0)) * 1000;
  const rows = job.sizes.map((size) => [size.at * 1000, size[member] ?? 0]);
  if (rows.length) rows.push([end, rows.at(-1)[1]]);
  return rows;
}

// Two step series with their own times as rows of one chart.
function joinRows(steps, times, values) {
  const all = [...new Set([...steps.map(([at]) => at), ...times])].sort((a, b) => a - b);
  const at = new Map(times.map((time, i) => [time, values[i]]));
  let i = -1;
  return all.map((time) => {
    while (i + 1 < steps.length && steps[i + 1][0] <= time) i++;
    return [time, i < 0 ? null : steps[i][1], at.get(time) ?? null];
  });
}

// The names of what a job reports, the one by which it is judged first.
function metricNames(job, samples) {
  const names = new Set();
  if (samples.some((sample) => sample.metric !== null)) names.add(job.progress?.metric || 'loss');
  for (const sample of samples) for (const name of Object.keys(sample.metrics || {})) names.add(name);
  return [...names];
}

function metricRows(job, samples, name) {
  const judged = name === (job.progress?.metric || 'loss');
  return samples.map((sample) => [sample.at * 1000, sample.metrics?.[name] ?? (judged ? sample.metric : null)])
    .filter(([, value]) => value !== null);
}

// How far the axis goes beyond now: to the expected end and the deadline, unless they are so
// far away that the curve would be a line at the edge.
const AHEAD = 3; // times as long as the past

function timeWindow(job, samples) {
  if (!samples.length) return null;
  const from = Math.min(samples[0].at, job.started ?? job.submitted);
  const now = Math.max(samples.at(-1).at, job.ended ?? 0);
  const coming = isActive(job) ? [job.progress?.expected_end_high, job.progress?.expected_end, job.deadline] : [job.deadline];
  const shown = coming.filter((at) => at && at > now && at - from <= (now - from) * (1 + AHEAD));
  return [from * 1000, Math.max(now, ...shown) * 1000 + 1];
}

const GROWTHS = [['cpu', 'CPUs', '--s0'], ['memory', 'memory', '--s4'], ['block', "disk's bandwidth", '--s2'],
  ['network', "network's bandwidth", '--s3']];

// Growth efficiency in percent per second, by each resource that it was measured for.
function growthSeries(growth) {
  return GROWTHS.map(([member, name, colour]) => ({ name, colour,
    rows: growth.filter((g) => g[member] !== null).map((g) => [g.at * 1000, 100 * g[member]]) }))
    .filter(({ rows }) => rows.length > 1);
}

function jobSeries(job, samples, growth, chosen) {
  const times = samples.map((sample) => sample.at * 1000);
  const rates = smooth(rateOf(samples, 'step'));
  return {
    metrics: chosen.map((name) => ({ name, rows: metricRows(job, samples, name) })).filter(({ rows }) => rows.length > 1),
    size: joinRows(sizeRows(job, samples, 'cpus'), times, smooth(rateOf(samples, 'cpu_s'))),
    gpus: job.gpus_max > 0 ? sizeRows(job, samples, 'gpus') : [],
    rate: times.map((at, i) => [at, rates[i]]).filter(([, v]) => v !== null),
    memory: samples.filter((s) => s.memory_mb !== null).map((s) => [s.at * 1000, s.memory_mb]),
    growth: growthSeries(growth),
    window: timeWindow(job, samples),
  };
}

// ---- charts

// Starts of attempts, the expected end with its band, and the deadline.
function timeMarks(job) {
  const marks = job.attempts.slice(1).filter((a) => a.started).map((a) => ({ at: a.started * 1000, colour: '--faint', text: `attempt ${a.n}` }));
  const p = job.progress;
  if (isActive(job) && p?.expected_end) {
    marks.push({ at: p.expected_end * 1000, colour: '--accent', text: 'expected end',
      band: p.expected_end_low ? [p.expected_end_low * 1000, p.expected_end_high * 1000] : null });
  }
  if (job.deadline) marks.push({ at: job.deadline * 1000, colour: '--pick', text: 'deadline' });
  return marks;
}

function jobCharts(job, series, log) {
  const marks = timeMarks(job);
  const quiet = marks.map((mark) => ({ ...mark, text: '' }));
  const held = [{ name: 'held', colour: '--s2', steps: true, filled: true, show: units }];
  const specs = [
    ...series.metrics.map(({ name, rows }, i) => ({ title: visible(name), label: `${visible(name)} over time`, zero: false, log,
      class: i ? 'short' : '', series: [{ name: visible(name), colour: `--s${[0, 3, 5, 6, 7][i % 5]}` }], rows, marks: i ? quiet : marks })),
    series.gpus.length > 1 && { title: 'GPUs held', label: 'GPUs over time', class: 'short', axis: units, series: held, rows: series.gpus },
    series.size.length > 1 && { title: 'CPUs held and in use', label: 'CPUs over time', class: 'short',
      series: [...held, { name: 'in use', colour: '--s1', width: 1.5, show: figure }], rows: series.size },
    series.rate.length > 1 && { title: 'Steps per second', label: 'Steps per second over time', class: 'short',
      series: [{ name: 'steps/s', colour: '--s3' }], rows: series.rate },
    series.memory.length > 1 && { title: 'Memory', label: 'Memory over time', class: 'short', axis: memory,
      series: [{ name: 'in use', colour: '--s4', filled: true, show: memory }], rows: series.memory },
    ...series.growth.map(({ name, colour, rows }) => ({ title: `Growth efficiency, % per second on all of the node's ${name}`,
      label: `Growth efficiency by the node's ${name} over time`, class: 'short',
      series: [{ name: '% per second', colour, show: figure }], rows })),
  ].filter(Boolean);
  return specs.map((spec) => ({ marks: quiet, ...spec, window: series.window }));
}

const METRICS_SHOWN = 3; // until the reader chooses

// Which metrics are drawn, and whether on a logarithmic axis.
function curveTools(view, change) {
  const names = html('div', { class: 'chips', role: 'group', 'aria-label': 'Metrics' });
  const log = html('input', { type: 'checkbox' });
  log.addEventListener('change', () => {
    view.log = log.checked;
    change();
  });
  names.addEventListener('click', (event) => {
    const name = event.target.closest('[data-metric]')?.dataset.metric;
    if (name === undefined) return;
    view.chosen = view.names.filter((one) => (one === name) !== view.chosen.includes(one));
    change();
  });
  const box = html('div', { class: 'tools curve-tools' }, names,
    html('label', { class: 'check' }, log, 'Logarithmic axis'));
  return {
    box,
    draw() {
      box.hidden = !view.names.length;
      names.hidden = view.names.length < 2;
      render(names, view.names.map((name) => html('button', { type: 'button', 'data-metric': name, 'data-key': name,
        'aria-pressed': String(view.chosen.includes(name)) }, visible(name))));
    },
  };
}

// Values of a logarithmic axis must be above zero.
const mayBeLog = (rows) => rows.every(([, value]) => value > 0);

function makeCurves(box) {
  const view = { names: [], chosen: [], log: false };
  const hint = html('p', { class: 'note' }, 'One time axis: drag to zoom, double-click to see all.');
  const charts = html('div');
  const tools = curveTools(view, () => draw());
  let shape = null;
  let drawn = [];
  let link = null;
  let last = null;
  const drop = () => {
    link?.detach();
    drawn.forEach((chart) => chart.end());
    drawn = [];
    link = null;
    shape = null;
  };
  const build = (specs) => {
    drop();
    drawn = specs.map((spec) => timeChart(spec));
    charts.replaceChildren(...drawn.flatMap(({ spec, box: its }) =>
      [html('h3', spec.title), spec.series.length > 1 ? legend(spec.series) : '', its]).filter(Boolean));
    link = linkCharts(drawn);
  };
  const chooseNames = (job, samples) => {
    const names = metricNames(job, samples);
    if (names.join('\n') === view.names.join('\n')) return;
    if (!view.names.length) view.chosen = names.slice(0, METRICS_SHOWN);
    view.names = names;
  };
  const draw = () => {
    const { job, samples, growth } = last;
    chooseNames(job, samples);
    const specs = jobCharts(job, jobSeries(job, samples, growth, view.chosen), view.log)
      .map((spec) => (spec.log && !mayBeLog(spec.rows) ? { ...spec, log: false } : spec));
    hint.hidden = !specs.length;
    tools.draw();
    const next = specs.map((spec) => `${spec.title}|${spec.series.length}|${Boolean(spec.log)}`).join('\n');
    if (specs.length && next === shape) {
      specs.forEach((spec, i) => drawn[i].set(spec.rows, { marks: spec.marks, window: spec.window }));
    } else if (specs.length) {
      build(specs);
      shape = next;
    } else {
      drop();
      render(charts, html('p', { class: 'empty' }, isWaiting(job)
        ? 'Curves appear when it runs.'
        : 'It has reported no progress. Trainyard reads the usual forms of output; --pattern teaches it another one.'));
    }
  };
  box.append(hint, tools.box, charts);
  return {
    draw(job, samples, growth) {
      last = { job, samples, growth };
      draw();
    },
    end: drop,
  };
}
