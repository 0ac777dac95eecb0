// Each node over time under the chosen policy: how many jobs it has, with the
// moves marked, and how much of it is in use.
'use strict';

// Marks for the moves to and from a node.
function moveMarks(report, moves, node) {
  const marks = [];
  const name = (job) =>
    job % report.stride === 0 ? report.jobs.name[job / report.stride] : `job ${job}`;
  for (let i = 0; i < moves.n; i++) {
    if (moves.to[i] !== node && moves.from[i] !== node) continue;
    const came = moves.to[i] === node;
    const other = visible(report.cluster.names[came ? moves.from[i] : moves.to[i]]);
    const why = moves.list[i] ? ` (${moves.list[i]})` : '';
    const text = `${name(moves.job[i])}${why} ${came ? 'came from' : 'went to'} ${other}`;
    marks.push({ at: moves.at[i], came, text: `${text} at ${moment(moves.at[i])}` });
  }
  return marks;
}

function nodeHead(node) {
  const mean = node.mean === null ? '' : `${percent(node.mean)} of its ${node.unit}s on average`;
  return html(
    'div',
    { class: 'used-head' },
    html('span', { class: 'name' }, node.name),
    html('span', { class: 'dim' }, mean),
  );
}

function drawNode(report, policy, node, marks, most, last) {
  const jobs = html('div');
  const used = html('div');
  const x = { lo: 0, hi: report.end || report.tick };
  const curve = (which) => () => [{ index: policy.index, name: node.name, curve: node[which] }];
  byId('node-charts').append(nodeHead(node), jobs, used);
  plot(jobs, {
    height: 70,
    left: 50,
    axis: false,
    x,
    y: { hi: most * 1.1, ticks: countTicks(most, 2) },
    shown: curve('jobs'),
    marks,
    when: (t) => `at ${moment(t)}`,
    value: (v) => count(Math.round(v * 10) / 10, 'job'),
    label: `Jobs on ${node.name} over time under ${policy.name}, ${count(marks.length, 'move')}.`,
  });
  plot(used, {
    height: last ? 84 : 62,
    axis: last,
    filled: true,
    x,
    y: { hi: 1, ticks: [0, 1].map((at) => ({ at, text: `${at * 100} %` })) },
    shown: curve('used'),
    when: (t) => `at ${moment(t)}`,
    value: (v) => percent(v),
    label: `Share of the ${node.unit}s of ${node.name} in use over time under ${policy.name}.`,
  });
}

function drawNodes(report, policy) {
  const nodes = policy.byNode();
  const most = Math.max(
    1,
    ...nodes.map((node) => node.jobs.y.reduce((a, b) => Math.max(a, b), 0)),
  );
  byId('node-charts').replaceChildren();
  nodes.forEach((node, i) => {
    const marks = moveMarks(report, policy.moves(), i);
    drawNode(report, policy, node, marks, most, i === nodes.length - 1);
  });
}
