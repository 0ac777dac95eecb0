// The prose of the page is in page.html. There, an element with data-say takes
// one of the words below, and one with data-if is there only when its condition
// holds: what is sampled or rounded is said, and only then.
'use strict';

function clusterInWords({ nodes, pools }) {
  const what = pools.map(([name, units]) => {
    const plain = /^(cpu|gpu)$/i.test(name);
    return `${grouped(units)} ${plain ? `${name.toUpperCase()}s` : `${visible(name)} GPUs`}`;
  });
  return `${count(nodes, 'node')} with ${what.join(', ') || 'nothing'}`;
}

function fillWords(report) {
  const { policies } = report;
  const { jobs: all, deadline_jobs: dated } = policies[0].figures;
  const words = {
    units: `${report.unit}s`,
    jobs: count(all, 'job'),
    dated: `${count(dated, 'job')} of ${grouped(all)} ${dated === 1 ? 'has' : 'have'} a deadline.`,
    listed: ordinal(report.stride),
    drawn: ordinal(report.ganttStride),
    trace: visible(report.trace),
    nodes: visible(report.nodes),
    cluster: clusterInWords(report.cluster),
    origin: exactSeconds(report.origin),
    nodesDrawn: count(policies[0].byNode().length, 'node'),
    nodesAll: grouped(report.cluster.nodes),
    rounding: report.tick >= 1 ? 'whole seconds' : 'milliseconds',
  };
  const conditions = {
    several: policies.length > 1,
    dated: dated > 0,
    sliced: policies.some((p) => p.queue && p.queue.lo),
    moved: policies.some((p) => p.moves().n > 0),
    nodesCut: policies[0].byNode().length < report.cluster.nodes,
    movesCut: policies.some((p) => p.moves().n < p.moves().recorded),
    drawnSample: report.ganttStride > 1,
    cut: policies.some((p) => p.segments.cut),
    listedAll: report.stride === 1,
    listedSample: report.stride > 1,
    rounded: !report.exact,
  };
  for (const node of document.querySelectorAll('[data-say]')) {
    node.textContent = words[node.dataset.say];
  }
  for (const node of document.querySelectorAll('[data-if]')) {
    node.hidden = !conditions[node.dataset.if];
  }
}
