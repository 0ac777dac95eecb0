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
    card('Deadlines at risk', grouped(risky), dated ? `of ${count(dated, 'job')} with a deadline` : 'no job has one'),
  );
}

// One cell for each CPU or GPU, in the colours of the jobs that hold them; a job that
// holds a part of one gets the cell that it shares.
function cells(size, jobs, member) {
  const whole = Math.min(Math.ceil(size), 256);
  const scale = whole / size;
  const list = [];
  for (const job of jobs) {
    const n = Math.max(1, Math.round(job[member] * scale));
    for (let i = 0; i < n && list.length < whole; i++) {
      list.push(
        html('a', {
          class: `cell ${jobColour(job.id)}`,
          href: `#/jobs/${job.id}`,
          tabindex: -1,
          'aria-hidden': 'true',
          title: `${visible(job.name)} (${job.id}): ${units(job[member])} ${member.toUpperCase()}`,
        }),
      );
    }
  }
  while (list.length < whole) list.push(html('span', { class: 'cell' }));
  return html('div', { class: `cells ${whole > 64 ? 'small' : ''}` }, list);
}

const held = (held_, all, unit) => `${units(held_)} of ${units(all)} ${unit}`;

function nodeTile(node) {
  const jobs = node.jobs.map((id) => yard.jobs.get(id)).filter(Boolean);
  return html(
    'article',
    { class: `tile ${node.state}`, 'data-key': node.name, 'aria-label': `Node ${visible(node.name)}` },
    html(
      'div',
      { class: 'tile-head' },
      html('a', { href: '#/nodes', class: 'name' }, visible(node.name)),
      html('span', { class: `state node-${node.state}` }, node.state),
    ),
    node.cpus > 0 && [
      html('div', { class: 'tile-what' }, held(node.cpus_held, node.cpus, 'CPUs')),
      cells(node.cpus, jobs.filter((job) => job.cpus > 0), 'cpus'),
    ],
    node.gpus > 0 && [
      html(
        'div',
        { class: 'tile-what' },
        `${held(node.gpus_held, node.gpus, 'GPUs')}${node.gpu_type ? ` (${visible(node.gpu_type)})` : ''}`,
      ),
      cells(node.gpus, jobs.filter((job) => job.gpus > 0), 'gpus'),
    ],
    node.memory_mb !== null && [
      html('div', { class: 'tile-what' }, `${memory(node.memory_held_mb)} of ${memory(node.memory_mb)} memory`),
      html('progress', {
        max: node.memory_mb,
        value: Math.min(node.memory_held_mb, node.memory_mb),
        'aria-label': 'Memory held',
      }),
    ],
    html(
      'ul',
      { class: 'tile-jobs' },
      jobs.slice(0, 6).map((job) =>
        html('li', html('i', { class: `key ${jobColour(job.id)}` }), jobLink(job),
          html('span', { class: 'dim' }, sizeText(job))),
      ),
      jobs.length > 6 && html('li', { class: 'dim' }, `and ${jobs.length - 6} more`),
    ),
    node.notice && html('p', { class: 'tile-notice' }, visible(node.notice)),
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

function riskList() {
  const risky = yard.list((job) => isActive(job) && deadlineRisk(job));
  risky.sort((a, b) => a.deadline - b.deadline);
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
      { name: 'CPUs', colour: '--faint', steps: true, width: 1, dashed: true, show: units },
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
      html('h3', gpus ? 'CPUs and GPUs held' : 'CPUs held'), charts[0].box,
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

  const draw = () => {
    render(cards, overviewCards());
    render(tiles, yard.nodes.length
      ? yard.nodes.map(nodeTile)
      : html('p', { class: 'empty' }, 'There are no nodes yet.'));
    render(waiting, waitingList());
    render(risky, riskList());
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
