// The page of one job: its curves with the sizes under them on one time axis, what it
// uses, why it waits, its attempts and events, and its log.
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

const WINDOW = 5;

// The mean of the last few values: single samples are rough.
function smooth(values) {
  return values.map((value, i) => {
    if (value === null) return null;
    const near = values.slice(Math.max(0, i - WINDOW + 1), i + 1).filter((v) => v !== null);
    return near.reduce((a, b) => a + b, 0) / near.length;
  });
}

// Sizes as steps: each change holds until the next, the last until the end or now.
function sizeRows(job, samples) {
  const end = (job.ended ?? Math.max(nowSeconds(), samples.at(-1)?.at ?? 0)) * 1000;
  const rows = job.sizes.map(({ at, cpus }) => [at * 1000, cpus]);
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

function jobSeries(job, samples) {
  const times = samples.map((sample) => sample.at * 1000);
  const memoryRows = samples.filter((s) => s.memory_mb !== null).map((s) => [s.at * 1000, s.memory_mb]);
  return {
    metric: samples.filter((s) => s.metric !== null).map((s) => [s.at * 1000, s.metric]),
    size: joinRows(sizeRows(job, samples), times, smooth(rateOf(samples, 'cpu_s'))),
    rate: times.map((at, i) => [at, smooth(rateOf(samples, 'step'))[i]]).filter(([, v]) => v !== null),
    memory: memoryRows,
    window: times.length
      ? [Math.min(times[0], (job.started ?? job.submitted) * 1000),
         Math.max(times.at(-1), (job.ended ?? 0) * 1000) + 1]
      : null,
  };
}

// ---- parts of the page

const fact = (name, ...value) => html('div', { 'data-key': name }, html('dt', name), html('dd', value));

function expectedEnd(job) {
  const p = job.progress;
  if (!isActive(job) || !p?.expected_end) return null;
  return [
    timeElement(p.expected_end),
    p.expected_end_low && html('span', { class: 'dim' },
      ` (between ${clockTime(p.expected_end_low)} and ${clockTime(p.expected_end_high)})`),
  ];
}

// What it uses now; how many processes there are is not always known.
function usageText(u) {
  const parts = [u.cpus === null ? null : `${figure(Math.round(u.cpus * 100) / 100)} CPUs`, memory(u.memory_mb),
    u.processes > 0 ? count(u.processes, 'process', 'processes') : null];
  return parts.filter(Boolean).join(', ');
}

function jobFacts(job) {
  const p = job.progress;
  const u = job.usage;
  return html(
    'dl',
    { class: 'facts' },
    fact('Size', sizeText(job), job.threads ? html('span', { class: 'dim' }, ` · ${count(job.threads, 'thread')}`) : ''),
    job.node && fact('Node', visible(job.node), job.cpuset ? html('span', { class: 'dim' }, ` · CPUs ${job.cpuset}`) : ''),
    p && fact('Progress', p.total ? `step ${grouped(p.step)} of ${grouped(p.total)}` : p.step !== null ? `step ${grouped(p.step)}` : '–',
      p.epoch !== null && p.epoch !== undefined && html('span', { class: 'dim' }, ` · epoch ${figure(p.epoch)}${p.epochs ? ` of ${p.epochs}` : ''}`)),
    p && metricOf(job) !== null && fact(visible(p.metric || 'loss'), figure(metricOf(job))),
    p?.rate > 0 && fact('Rate', `${figure(p.rate)} steps/s`),
    expectedEnd(job) && fact('Expected end', expectedEnd(job)),
    job.deadline !== null && fact('Deadline', timeElement(job.deadline),
      deadlineRisk(job) ? [' ', html('span', { class: 'state late' }, deadlineRisk(job))] : ''),
    u && fact('In use', usageText(u)),
    fact('Waited', duration(job.wait_s)),
    fact('Ran', duration(job.run_s), job.time_limit_s ? html('span', { class: 'dim' }, ` of at most ${duration(job.time_limit_s)}`) : ''),
    fact('Submitted', timeElement(job.submitted), html('span', { class: 'dim' }, ` by ${visible(job.user)}`)),
    job.ended && fact('Ended', timeElement(job.ended), job.code !== null ? html('span', { class: 'dim' }, ` · exit code ${job.code}`) : ''),
    job.priority !== 0 && fact('Priority', String(job.priority)),
  );
}

function jobHead(job) {
  const done = progressOf(job);
  return [
    html('p', { class: 'eyebrow' }, html('a', { href: '#/jobs' }, 'Jobs'), ` / ${job.id}`,
      job.array ? ` · index ${job.array.index} of array ${job.array.job}` : ''),
    html('div', { class: 'heading' },
      html('h1', { class: 'job-title' }, visible(job.name), ' ', statePill(job)),
      actionButtons(job)),
    html('p', { class: 'command name' }, visible(job.command.map(shellWord).join(' '))),
    stateReason(job) && html('p', { class: isActive(job) ? 'reason' : 'reason ended' }, stateReason(job)),
    done !== null && isActive(job) && html('progress', { class: 'whole', max: 1, value: done, 'aria-label': 'Progress' }),
  ];
}

function explanationPart(why, standing) {
  if (!why) return html('p', { class: 'dim' }, '…');
  return [
    html('p', { class: 'lead' }, visible(why.summary)),
    why.reasons.length > 0 && html('ul', { class: 'plain' }, why.reasons.map((reason) => html('li', visible(reason.text)))),
    standing.length > 0 && html('ul', { class: 'plain' }, standing.map((text) => html('li', visible(text)))),
    why.frees.length > 0 && [html('h3', 'What would help'), html('ul', { class: 'plain' }, why.frees.map((text) => html('li', visible(text))))],
    why.ahead.length > 0 && [
      html('h3', 'Ahead of it'),
      html('ul', { class: 'rows' }, why.ahead.slice(0, 10).map((job) =>
        html('li', { 'data-key': job.id }, statePill({ ...job, paused: false }), jobLink(job),
          html('span', { class: 'dim' }, cpuCount(job.cpus)),
          job.remaining_s !== null && html('span', { class: 'why' }, `${duration(job.remaining_s)} left`)))),
    ],
    why.start?.expected && html('p', { class: 'dim' }, 'Expected start: ', timeElement(why.start.expected), `, ${visible(why.start.basis)}.`),
  ];
}

function attemptTable(attempts) {
  if (!attempts.length) return html('p', { class: 'empty' }, 'It has not started yet.');
  const row = (a) => html('tr', { 'data-key': a.n },
    html('td', String(a.n)), html('td', { class: 'text' }, statePill({ ...a, paused: false })),
    html('td', { class: 'text' }, visible(a.node ?? '')), html('td', units(a.cpus)), html('td', clockTime(a.started)),
    html('td', clockTime(a.ended)), html('td', a.code === null ? '–' : String(a.code)),
    html('td', a.cpu_s === null ? '–' : duration(a.cpu_s)), html('td', memory(a.memory_max_mb)),
    html('td', { class: 'text wrap-text' }, visible(a.reason)));
  return html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Attempts' },
    html('table', html('thead', html('tr', ['', 'State', 'Node', 'CPUs', 'Started', 'Ended', 'Code', 'CPU time', 'Peak memory', 'Reason']
      .map((title, i) => html('th', { scope: 'col', class: [1, 2, 9].includes(i) ? 'text' : '' }, title || html('span', { class: 'unseen' }, 'Attempt'))))),
    html('tbody', attempts.map(row))));
}

const EVENT_SILENT = ['seq', 'at', 'kind', 'job'];

function eventText(event) {
  return Object.entries(event)
    .filter(([key, value]) => !EVENT_SILENT.includes(key) && value !== null && value !== '')
    .map(([key, value]) => `${key} ${typeof value === 'object' ? JSON.stringify(value) : visible(String(value))}`)
    .join(', ');
}

function eventList(events) {
  if (!events.length) return html('p', { class: 'empty' }, 'Nothing is kept of what happened to it.');
  return html('ol', { class: 'events', tabindex: 0, 'aria-label': 'Events, newest first' }, [...events].reverse().slice(0, 200).map((event) =>
    html('li', { 'data-key': event.seq }, timeElement(event.at), html('b', event.kind.replace(/^job\./, '')),
      html('span', { class: 'dim' }, eventText(event)))));
}

// ---- charts

function jobCharts(job, series) {
  const metricName = visible(job.progress?.metric || 'loss');
  const marks = job.attempts.slice(1).map((a) => ({ at: a.started * 1000, colour: '--pick' }));
  if (job.deadline) marks.push({ at: job.deadline * 1000, colour: '--pick' });
  const specs = [
    series.metric.length > 1 && { title: metricName, label: `${metricName} over time`, zero: false,
      series: [{ name: metricName, colour: '--s0' }], rows: series.metric },
    series.size.length > 1 && { title: 'CPUs held and in use', label: 'CPUs over time', class: 'short',
      series: [{ name: 'held', colour: '--s2', steps: true, filled: true, show: units },
        { name: 'in use', colour: '--s1', width: 1.5, show: figure }], rows: series.size },
    series.rate.length > 1 && { title: 'Steps per second', label: 'Steps per second over time', class: 'short',
      series: [{ name: 'steps/s', colour: '--s3' }], rows: series.rate },
    series.memory.length > 1 && { title: 'Memory', label: 'Memory over time', class: 'short', axis: memory,
      series: [{ name: 'in use', colour: '--s4', filled: true, show: memory }], rows: series.memory },
  ].filter(Boolean);
  return specs.map((spec) => ({ title: spec.title, chart: timeChart({ ...spec, marks, window: series.window }) }));
}

function makeCurves(box) {
  let drawn = [];
  let link = null;
  const drop = () => {
    link?.detach();
    drawn.forEach(({ chart }) => chart.end());
    drawn = [];
    link = null;
  };
  return {
    draw(job, samples) {
      const series = jobSeries(job, samples);
      const next = jobCharts(job, series);
      if (next.length && next.length === drawn.length) {
        next.forEach(({ chart: { spec } }, i) =>
          drawn[i].chart.set(spec.rows, { marks: spec.marks, window: spec.window }));
        next.forEach(({ chart }) => chart.end());
        return;
      }
      drop();
      drawn = next;
      if (!drawn.length) {
        render(box, html('p', { class: 'empty' }, isWaiting(job)
          ? 'Curves appear when it runs.'
          : 'It has reported no progress. Trainyard reads the usual forms of output; --pattern teaches it another one.'));
        return;
      }
      box.replaceChildren(...drawn.flatMap(({ title, chart }) =>
        [html('h3', title), chart.spec.series.length > 1 ? legend(chart.spec.series) : '', chart.box]).filter(Boolean));
      link = linkCharts(drawn.map(({ chart }) => chart));
    },
    end: drop,
  };
}

// ---- the page

async function readJob(id) {
  const [job, { samples }, { events }, why] = await Promise.all([
    get(`/jobs/${id}`),
    get(`/jobs/${id}/progress`),
    get(`/events?job=${id}&limit=1000`),
    get(`/jobs/${id}/explain`),
  ]);
  return { job, samples, events, why };
}

function jobPage(main, [key]) {
  const head = html('div', { class: 'page-head' });
  const facts = html('div');
  const graphs = html('div');
  const why = html('div');
  const attempts = html('div');
  const events = html('div');
  const spec = html('pre', { class: 'spec', tabindex: 0 });
  const curves = makeCurves(graphs);
  let data = null;
  let log = null;
  let busy = false;
  let again = false;
  let ended = false;

  head.addEventListener('click', (event) => {
    const name = event.target.closest('[data-action]')?.dataset.action;
    if (name) JOB_ACTIONS[name].start(data.job);
  });
  const drawHead = () => {
    render(head, jobHead(data.job));
    render(facts, jobFacts(data.job));
  };
  const draw = () => {
    document.title = `${visible(data.job.name)} · Trainyard`;
    drawHead();
    curves.draw(data.job, data.samples);
    render(why, explanationPart(data.why, data.job.standing));
    render(attempts, attemptTable(data.job.attempts));
    render(events, eventList(data.events));
    spec.textContent = JSON.stringify(data.job.spec, null, 2);
    log.setAttempts(data.job.attempts);
  };
  const build = () => {
    log = makeLog(data.job.id);
    const section = (title, ...content) => html('section', html('h2', title), content);
    main.replaceChildren(
      head,
      html('section', { class: 'first' }, facts),
      section('Curves', html('p', { class: 'note' }, 'One time axis: drag to zoom, double-click to see all.'), graphs),
      section(isActive(data.job) ? 'Why' : 'How it went', why),
      section('Log', log.box),
      section('Attempts', attempts),
      section('Events', events),
      html('section', html('details', html('summary', 'The request'), spec)),
    );
  };
  const load = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      data = await readJob(key);
      if (ended) return;
      yard.keep([data.job]);
      if (!log) {
        build();
        draw();
        log.read();
      } else {
        draw();
      }
    } catch (problem) {
      if (!log && !ended) {
        render(main, html('h1', problem.status === 404 ? 'No such job' : 'The job cannot be shown'),
          html('p', visible(problem.message)), html('p', html('a', { href: '#/jobs' }, 'All jobs')));
      }
    }
    busy = false;
    if (again && !ended) {
      again = false;
      load();
    }
  };
  const takeProgress = (event) => {
    const { job } = data;
    job.progress = yard.jobs.get(job.id)?.progress ?? job.progress;
    data.samples.push({ attempt: job.attempt, at: event.at, step: event.step ?? null,
      metric: event.value ?? event.loss ?? null, cpus: job.cpus, gpus: null, cpu_s: null, memory_mb: null });
    dirty = true;
  };
  let dirty = false;
  const stop = live.watch((event) => {
    if (!data || event.job !== data.job.id) return;
    if (event.kind === 'job.progress') takeProgress(event);
    else load();
  });
  const second = setInterval(() => {
    if (!dirty || !log) return;
    dirty = false;
    drawHead();
    curves.draw(data.job, data.samples);
  }, 1000);
  // Usage and the expected end move without an event.
  const slow = setInterval(() => data && isActive(data.job) && !document.hidden && load(), 10_000);
  addEventListener('reconnected', load);
  render(main, html('p', { class: 'dim' }, 'Loading …'));
  load();
  return {
    title: `Job ${key}`,
    update: () => {},
    end() {
      ended = true;
      stop();
      clearInterval(second);
      clearInterval(slow);
      removeEventListener('reconnected', load);
      curves.end();
      log?.end();
    },
  };
}
