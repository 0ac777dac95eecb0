// The nodes: what they have and hold, over time, and draining.
'use strict';

function nodeRow(node) {
  const jobs = node.jobs.map((id) => yard.jobs.get(id)).filter(Boolean);
  return html('tr', { 'data-key': node.name },
    html('td', { class: 'text' }, html('b', visible(node.name))),
    html('td', { class: 'text' }, html('span', { class: `state node-${node.state}` }, node.state)),
    html('td', `${units(node.cpus_held)} / ${units(node.cpus)}`),
    html('td', node.gpus ? `${units(node.gpus_held)} / ${units(node.gpus)} ${visible(node.gpu_type ?? '')}` : '–'),
    html('td', node.memory_mb === null ? '–' : `${memory(node.memory_held_mb)} / ${memory(node.memory_mb)}`),
    html('td', grouped(jobs.length)),
    html('td', { class: 'text' }, visible(node.runtime)),
    html('td', { class: 'text wrap-text' }, visible(node.notice)),
    html('td', yard.mayAdminister() &&
      html('button', { type: 'button', 'data-node': node.name }, node.state === 'draining' ? 'Use again' : 'Drain')));
}

// The charts of a node; `rows` are times with what was sampled of it then.
function nodeParts(name, rows) {
  const pick = (...values) => rows.map(([at, node]) => [at, ...values.map((value) => (node ? value(node) : null))]);
  const label = visible(name);
  return [
    { label: `CPUs of ${label} over time`, class: 'short', axis: units,
      rows: pick((n) => n.cpus_held, (n) => n.cpus_used, (n) => n.cpus), series: [
        { name: 'CPUs held', colour: '--s2', steps: true, filled: true, show: units },
        { name: 'CPUs in use', colour: '--s1', width: 1.5, show: figure },
        { name: 'CPUs', colour: '--faint', steps: true, width: 1, dashed: true, show: units }] },
    { label: `Jobs on ${label} over time`, class: 'short',
      rows: pick((n) => n.running), series: [{ name: 'jobs', colour: '--s0', steps: true, filled: true, show: grouped }] },
    { label: `Memory that jobs use on ${label} over time`, class: 'short', axis: memory,
      rows: pick((n) => n.memory_used_mb), series: [{ name: 'memory in use', colour: '--s4', filled: true, show: memory }] },
  ];
}

// The samples at which more jobs had been moved to the node than before.
function moveMarks(rows) {
  const known = rows.filter(([, node]) => node);
  return known.filter(([, node], i) => i > 0 && node.moves > known[i - 1][1].moves)
    .map(([at]) => ({ at, colour: '--pick' }));
}

function nodesPage(main) {
  let charts = new Map();
  let span = SPANS[0][1];
  const table = html('div');
  const graphs = html('div');
  const choice = html('div', { class: 'choice', role: 'group', 'aria-label': 'Time shown' },
    SPANS.map(([name, seconds]) => html('button', { type: 'button', 'aria-pressed': String(seconds === span), onclick: (event) => {
      span = seconds;
      for (const button of choice.children) button.setAttribute('aria-pressed', String(button === event.currentTarget));
      drawLoad();
    } }, name)));
  const draw = () => render(table, html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Nodes' },
    html('table', html('thead', html('tr', ['Node', 'State', 'CPUs held', 'GPUs held', 'Memory held', 'Jobs', 'Runtime', 'Notice', '']
      .map((title, i) => html('th', { scope: 'col', class: [0, 1, 6, 7].includes(i) ? 'text' : '' }, title || html('span', { class: 'unseen' }, 'Action'))))),
    html('tbody', yard.nodes.map(nodeRow)))));
  const drawLoad = async () => {
    const samples = await readLoad(span);
    if (!main.isConnected) return;
    const names = [...new Set(samples.flatMap((sample) => sample.nodes.map((node) => node.name)))];
    for (const name of names) {
      const rows = samples.map((sample) => {
        const node = sample.nodes.find((one) => one.name === name);
        return [sample.at * 1000, node];
      });
      if (rows.length < 2) continue;
      const parts = nodeParts(name, rows);
      const more = { window: loadWindow(span, samples), marks: moveMarks(rows) };
      if (charts.has(name)) {
        charts.get(name).forEach((chart, i) => chart.set(parts[i].rows, more));
        continue;
      }
      const drawn = parts.map((part) => timeChart({ ...part, ...more }));
      charts.set(name, drawn);
      graphs.append(html('h3', visible(name)), ...drawn.flatMap((chart) => [legend(chart.spec.series), chart.box]));
    }
    if (!charts.size) render(graphs, html('p', { class: 'empty' }, 'The first samples come within half a minute.'));
  };
  table.addEventListener('click', (event) => {
    const name = event.target.closest('[data-node]')?.dataset.node;
    const node = yard.nodes.find((one) => one.name === name);
    if (node) drainNode(node);
  });
  main.append(html('div', { class: 'page-head' }, html('h1', 'Nodes')), table,
    html('section', html('div', { class: 'heading' }, html('h2', 'Over time'), choice),
      html('p', { class: 'note' }, 'A dashed line marks jobs that were moved to the node.'), graphs));
  draw();
  drawLoad().catch((problem) => note(problem.message, 'failed'));
  const again = setInterval(() => drawLoad().catch(() => {}), 15_000);
  return { title: 'Nodes', update: (kind) => kind !== 'progress' && draw(), end() {
    clearInterval(again);
    for (const chart of [...charts.values()].flat()) chart.end();
    charts = new Map();
  } };
}
