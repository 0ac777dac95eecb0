// The first page: what runs where, what waits, how busy the nodes are, and which
// deadlines are in danger.
'use strict';

const SPANS = [['1 h', 3600], ['6 h', 6 * 3600], ['24 h', 86400], ['7 d', 7 * 86400]];

function card(what, value, more) {
  return html(
    'div',
    { class: 'card' },
    html('div', { class: 'what' }, what),
    html('div', { class: 'value' }, value),
    html('div', { class: 'than' }, more || '\u00a0'),
  );
}

const total = (list, member) => list.reduce((sum, one) => sum + (one[member] || 0), 0);

function overviewCards() {
  const active = yard.list(isActive);
  const running = active.filter(isRunning);
  const waiting = active.filter(isWaiting);
  const held = waiting.filter((job) => job.state === 'held').length;
  const risky = active.filter(deadlineRisk).length;
  const dated = active.filter((job) => job.deadline !== null).length;
  const gpus = total(yard.nodes, 'gpus');
  const cpus = total(yard.nodes, 'cpus');
  const used = total(running.map((job) => job.usage || {}), 'cpus');
  return html(
    'div',
    { class: 'cards' },
    card('Running', grouped(running.length), `${units(used.toFixed(1) * 1)} CPUs in use`),
    card('Waiting', grouped(waiting.length), held ? `${grouped(held)} of them held` : 'in the queue'),
    card(
      gpus ? 'CPUs and GPUs held' : 'CPUs held',
      gpus
        ? `${units(total(yard.nodes, 'cpus_held'))} · ${units(total(yard.nodes, 'gpus_held'))}`
        : units(total(yard.nodes, 'cpus_held')),
      `of ${units(cpus)}${gpus ? ` CPUs, ${units(gpus)} GPUs` : ''} on ${count(yard.nodes.length, 'node')}`,
    ),
    card('Deadlines at risk', grouped(risky), dated ? `of ${count(dated, 'job')} with a deadline` : 'no active job has a deadline'),
  );
}

function waitingList() {
  const all = yard.list(isWaiting);
  const waiting = foldRows(all, new Set())
    .sort((a, b) => b.priority - a.priority || a.submitted - b.submitted || a.id - b.id);
  if (!waiting.length) {
    return html(
      'p',
      { class: 'empty' },
      yard.list(isActive).length ? 'Nothing waits: all jobs run.' : 'No job runs or waits. ',
      !yard.list(isActive).length && yard.maySubmit() && html('a', { href: '#/submit' }, 'Submit one'),
    );
  }
  return [
    html(
      'ul',
      { class: 'rows' },
      waiting.slice(0, 8).map((job) =>
        html(
          'li',
          { 'data-key': job.id },
          statePill(job),
          jobLink(job),
          html('span', { class: 'dim' }, job.members ? count(job.members.length, 'job') : sizeText(job)),
          html('span', { class: 'why' }, stateReason(job) || ['since ', timeElement(job.submitted)]),
        ),
      ),
    ),
    waiting.length > 8 &&
      html('p', html('a', { href: '#/jobs?state=queued,held' }, `All ${grouped(all.length)} waiting jobs`)),
  ];
}

// Why a deadline is at risk and what would help, as `explain` says; asked for now and then.
const riskWhy = new Map();

async function readRisks(jobs) {
  const old = Date.now() - 15_000;
  const wanted = jobs.slice(0, 8).filter(({ id }) => !(riskWhy.get(id)?.at > old));
  await Promise.all(wanted.map(async ({ id }) => {
    riskWhy.set(id, { ...riskWhy.get(id), at: Date.now() });
    const why = await get(`/jobs/${id}/explain`).catch(() => null);
    if (!why) return;
    const reason = ['deadline', 'end', 'size'].map((code) => why.reasons.find((one) => one.code === code)).find(Boolean);
    riskWhy.set(id, { at: Date.now(), reason: reason?.text ?? why.summary, help: why.frees[0] });
  }));
  return wanted.length > 0;
}

const riskyJobs = () => yard.list((job) => isActive(job) && deadlineRisk(job)).sort((a, b) => a.deadline - b.deadline);

function riskList() {
  const risky = riskyJobs();
  if (!risky.length) {
    const dated = yard.list((job) => isActive(job) && job.deadline !== null).length;
    return html('p', { class: 'empty' }, dated
      ? `${count(dated, 'job')} with a deadline, and ${dated === 1 ? 'it' : 'all'} should meet it.`
      : 'No active job has a deadline. Give one with --deadline 2h, or on the page of a job.');
  }
  return html(
    'ul',
    { class: 'rows' },
    risky.slice(0, 8).map((job) =>
      html(
        'li',
        { 'data-key': job.id },
        html('span', { class: 'state late' }, deadlineRisk(job)),
        jobLink(job),
        html('span', { class: 'why' }, 'due ', timeElement(job.deadline),
          job.progress?.expected_end ? [', expected ', timeElement(job.progress.expected_end)] : ''),
        riskWhy.get(job.id)?.reason && html('p', { class: 'more' }, commandText(riskWhy.get(job.id).reason),
          riskWhy.get(job.id).help ? [' ', commandText(riskWhy.get(job.id).help)] : ''),
      ),
    ),
  );
}

// A server that is younger than the span is shown from its first sample on.
const loadWindow = (span, samples) =>
  [Math.max(Date.now() - span * 1000, (samples[0]?.at ?? 0) * 1000), Date.now()];

// What the server has sampled, and the present.
async function readLoad(span) {
  const { samples } = await get(`/load?since=${Math.floor(nowSeconds() - span)}`);
  return samples;
}

function loadCharts(samples, span) {
  const gpus = samples.some((sample) => sample.gpus > 0);
  const at = (sample) => sample.at * 1000;
  const use = samples.map((s) => [at(s), s.cpus_held, s.cpus, ...(gpus ? [s.gpus_held] : [])]);
  const queue = samples.map((s) => [at(s), s.running, s.waiting]);
  return { use, queue, gpus, window: loadWindow(span, samples) };
}

function overviewPage(main) {
  let span = SPANS[0][1];
  let charts = [];
  let link = null;
  const cards = html('div');
  const tiles = html('div', { class: 'tiles' });
  const waiting = html('div');
  const risky = html('div');
  const graphs = html('div');
  const choice = html(
    'div',
    { class: 'choice', role: 'group', 'aria-label': 'Time shown' },
    SPANS.map(([name, seconds]) =>
      html(
        'button',
        {
          type: 'button',
          'aria-pressed': String(seconds === span),
          onclick: (event) => {
            span = seconds;
            for (const button of choice.children) {
              button.setAttribute('aria-pressed', String(button === event.currentTarget));
            }
            drawLoad();
          },
        },
        name,
      ),
    ),
  );

  const dropCharts = () => {
    link?.detach();
    charts.forEach((chart) => chart.end());
    charts = [];
    link = null;
  };
  const makeCharts = ({ use, queue, gpus, window }) => {
    const busy = [
      { name: 'CPUs held', colour: '--s0', steps: true, filled: true, show: units },
      { name: 'CPUs there are', colour: '--faint', steps: true, width: 1, dashed: true, show: units },
      ...(gpus ? [{ name: 'GPUs held', colour: '--s1', steps: true, show: units }] : []),
    ];
    const jobs = [
      { name: 'running', colour: '--s2', steps: true, show: units },
      { name: 'waiting', colour: '--s4', steps: true, filled: true, show: units },
    ];
    charts = [
      timeChart({ label: 'CPUs held over time', series: busy, rows: use, axis: units, window }),
      timeChart({ label: 'Jobs over time', series: jobs, rows: queue, axis: units, window }),
    ];
    graphs.replaceChildren(
      html('h3', gpus ? 'CPUs and GPUs held' : 'CPUs held'), legend(busy), charts[0].box,
      html('h3', 'Jobs running and waiting'), legend(jobs), charts[1].box,
    );
    link = linkCharts(charts);
  };
  let drawing = 0;
  const drawLoad = async () => {
    const turn = ++drawing;
    const load = loadCharts(await readLoad(span), span);
    if (turn !== drawing || !main.isConnected) return;
    if (load.use.length < 2) {
      dropCharts();
      render(graphs, html('p', { class: 'empty' }, 'The first samples come within half a minute.'));
    } else if (charts.length && charts[0].spec.series.length === (load.gpus ? 3 : 2)) {
      charts[0].set(load.use, { window: load.window });
      charts[1].set(load.queue, { window: load.window });
    } else {
      dropCharts();
      makeCharts(load);
    }
  };

  const drawRisks = () => {
    render(risky, riskList());
    readRisks(riskyJobs()).then((some) => some && main.isConnected && render(risky, riskList()));
  };
  const draw = () => {
    render(cards, overviewCards());
    render(tiles, yard.nodes.length
      ? yard.nodes.map(nodeTile)
      : html('p', { class: 'empty' }, 'There are no nodes yet.'));
    render(waiting, waitingList());
    drawRisks();
  };
  main.append(
    html('h1', { class: 'unseen' }, 'Overview'),
    html('section', { class: 'first' }, cards),
    html('section', html('h2', 'Nodes'), tiles),
    html(
      'div',
      { class: 'pair' },
      html('section', html('h2', 'Waiting'), waiting),
      html('section', html('h2', 'Deadlines'), risky),
    ),
    html('section', html('div', { class: 'heading' }, html('h2', 'Load'), choice), graphs),
  );
  draw();
  drawLoad().catch((problem) => note(problem.message, 'failed'));
  const again = setInterval(() => drawLoad().catch(() => {}), 15_000);
  return {
    title: 'Overview',
    update: (kind) => kind !== 'progress' && draw(),
    end() {
      clearInterval(again);
      dropCharts();
    },
  };
}

// Names of the series of a chart.
function legend(series) {
  return html(
    'div',
    { class: 'legend' },
    series.map((one) =>
      html('span', html('i', { class: `key ${one.colour.slice(2)}` }), one.name)),
  );
}
