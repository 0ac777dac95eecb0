// The data of the report, unpacked. Times become seconds since the first
// submission; a missing time is NaN. src/sim/report/page_data.c writes what is read
// here.
'use strict';

// A column is an array, or one number that holds for all.
function unpack(column, n) {
  return Array.isArray(column) ? Float64Array.from(column) : new Float64Array(n).fill(column ?? 0);
}

function runningSum(values) {
  for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
  return values;
}

function readJobs(raw, tick, perUnit) {
  const n = raw.n;
  const jobs = {
    n,
    id: unpack(raw.id, n),
    units: unpack(raw.units, n).map((u) => u / perUnit),
    submit: unpack(raw.submit, n).map((t) => t * tick),
    group: Array.from(unpack(raw.group, n), (g) => (g < 0 ? '' : visible(raw.groups[g]))),
    hasGroups: raw.groups.length > 0,
  };
  jobs.name = raw.name.map((name, i) => visible(name) || `job ${jobs.id[i]}`);
  jobs.deadline = unpack(raw.deadline, n).map((d, i) => (d < 0 ? NaN : jobs.submit[i] + d * tick));
  return jobs;
}

// What became of the listed jobs under one policy.
function readRows(raw, jobs, tick) {
  const n = jobs.n;
  const first = unpack(raw.first, n);
  const span = unpack(raw.span, n);
  const again = unpack(raw.again, n);
  const extra = unpack(raw.run, n);
  const rows = {
    start: new Float64Array(n),
    end: new Float64Array(n),
    wait: new Float64Array(n),
    run: new Float64Array(n),
    jct: new Float64Array(n),
    outcome: unpack(raw.outcome, n),
  };
  for (let i = 0; i < n; i++) {
    const started = first[i] >= 0;
    const ended = span[i] >= 0;
    rows.start[i] = started ? jobs.submit[i] + first[i] * tick : NaN;
    rows.end[i] = ended ? rows.start[i] + span[i] * tick : NaN;
    rows.wait[i] = (Math.max(first[i], 0) + again[i]) * tick;
    rows.run[i] = ((ended ? span[i] - again[i] : 0) + extra[i]) * tick;
    rows.jct[i] = ended ? (first[i] + span[i]) * tick : NaN;
  }
  for (const key of ['starts', 'preemptions', 'moves', 'resizes', 'failures']) {
    rows[key] = unpack(raw[key], n);
  }
  return rows;
}

// [time, share] of the distribution of completion times.
function readCdf(raw, runnable, tick) {
  const at = runningSum(unpack(raw.at, raw.n));
  const rank = runningSum(unpack(raw.rank, raw.n));
  return { x: at.map((t) => t * tick), y: rank.map((r) => r / runnable) };
}

// A step curve: value v[i] from x[i] to x[i + 1]. `lo` and `hi` are there when
// the curve is the mean of slices.
function readCurve(raw, scale, end, tick) {
  if (!raw.n) return null;
  if (!raw.slices) {
    return {
      x: runningSum(unpack(raw.at, raw.n)).map((t) => t * tick),
      y: unpack(raw.v, raw.n).map((v) => v * scale),
    };
  }
  const n = raw.slices;
  return {
    x: Float64Array.from({ length: n }, (_, i) => (end * i) / n),
    y: unpack(raw.mean10, n).map((v) => (v / 10) * scale),
    lo: unpack(raw.lo, n).map((v) => v * scale),
    hi: unpack(raw.hi, n).map((v) => v * scale),
  };
}

// A node: its jobs and the share of it in use, as step curves.
function readNode(raw, name, tick) {
  const x = unpack(raw.at, raw.n).map((t) => t * tick);
  return {
    name: visible(name),
    unit: raw.gpu ? 'GPU' : 'CPU',
    mean: raw.mean,
    jobs: { x, y: unpack(raw.jobs, raw.n).map((v) => v / 10) },
    used: { x, y: unpack(raw.used, raw.n).map((v) => v / 1e4) },
  };
}

// Which job went when from which node to which.
function readMoves(raw, tick) {
  const column = (name) => unpack(raw[name], raw.n);
  return { n: raw.n, recorded: raw.recorded, at: column('at').map((t) => t * tick),
    job: column('job'), from: column('from'), to: column('to'), list: raw.list };
}

// The bars of the Gantt chart; those of one job lie next to each other.
function readBars(raw, jobs, tick, perUnit) {
  const n = raw.n;
  const bars = {
    n,
    job: runningSum(unpack(raw.job, n)),
    from: unpack(raw.gap, n),
    to: unpack(raw.length, n),
    units: unpack(raw.units, n).map((u) => u / perUnit),
    node: unpack(raw.node, n),
  };
  for (let i = 0; i < n; i++) {
    const sameJob = i > 0 && bars.job[i] === bars.job[i - 1];
    bars.from[i] = (sameJob ? bars.to[i - 1] : jobs.submit[bars.job[i]]) + bars.from[i] * tick;
    bars.to[i] = bars.from[i] + bars.to[i] * tick;
  }
  return bars;
}

// Unpacked when it is first asked for: most readers look at one policy.
function lazily(make) {
  let value;
  return () => (value ??= make());
}

function readReport(raw) {
  const tick = raw.tick_us / 1e6;
  const end = raw.end * tick;
  const jobs = readJobs(raw.jobs, tick, raw.per_unit);
  const policies = raw.policies.map((p, index) => {
    const figures = p.figures;
    const runnable = figures.jobs - figures.never_runnable;
    return {
      index,
      name: figures.policy,
      figures,
      shown: true,
      late: p.late,
      lateness: p.lateness * tick,
      segments: { kept: p.segments.n, recorded: p.segments.recorded, cut: p.segments.cut },
      rows: lazily(() => readRows(p, jobs, tick)),
      bars: lazily(() => readBars(p.segments, jobs, tick, raw.per_unit)),
      cdf: readCdf(p.cdf, runnable, tick),
      queue: readCurve(p.queue, 1, end, tick),
      used: readCurve(p.used, 1e-4, end, tick),
      byNode: lazily(() => p.by_node.map((n, i) => readNode(n, raw.cluster.names[i], tick))),
      moves: lazily(() => readMoves(p.moves, tick)),
    };
  });
  return {
    trace: raw.trace,
    nodes: raw.nodes,
    cluster: raw.cluster,
    unit: raw.unit,
    jobs,
    policies,
    end,
    tick,
    exact: raw.exact,
    origin: raw.origin_s,
    stride: raw.stride,
    ganttStride: raw.gantt_stride,
  };
}
