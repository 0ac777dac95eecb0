// A node as a tile: its CPUs, GPUs and memory as bars in the colours of the jobs that hold
// them, true to scale, so that a part of a CPU is seen as a part.
'use strict';

const CELLS_MARKED = 64; // more lines than that are noise

// A bar of `size` units with a part for each [job, units]; `cells` marks every unit.
function holdBar(size, parts, unit, cells) {
  const held = parts.reduce((sum, [, n]) => sum + n, 0);
  const part = ([job, n]) => {
    const link = html('a', { class: `part ${jobColour(job.id)}`, href: `#/jobs/${job.id}`, tabindex: -1, 'data-key': job.id,
      title: `${visible(job.name)} (${job.id}): ${unit(n)}` });
    link.style.flexGrow = n;
    return link;
  };
  const rest = html('span', { class: 'part rest', 'data-key': 'rest' });
  rest.style.flexGrow = Math.max(0, size - held);
  const marked = cells && size > 1 && size <= CELLS_MARKED;
  const bar = html('div', { class: `hold ${marked ? 'cells' : ''}`, 'aria-hidden': 'true' }, parts.map(part), rest);
  if (marked) bar.style.setProperty('--cells', size);
  return bar;
}

const held = (held_, all, unit) => `${units(held_)} of ${units(all)} ${unit}`;

// A job without a memory limit holds what it uses.
function memoryParts(jobs) {
  return jobs.map((job) => [job, job.memory_mb ?? job.usage?.memory_mb ?? 0]).filter(([, mb]) => mb > 0);
}

function tileBars(node, jobs) {
  const parts = (member) => jobs.filter((job) => job[member] > 0).map((job) => [job, job[member]]);
  const type = node.gpu_type ? ` (${visible(node.gpu_type)})` : '';
  return [
    node.cpus > 0 && [html('div', { class: 'tile-what' }, held(node.cpus_held, node.cpus, 'CPUs')),
      holdBar(node.cpus, parts('cpus'), cpuCount, true)],
    node.gpus > 0 && [html('div', { class: 'tile-what' }, `${held(node.gpus_held, node.gpus, 'GPUs')}${type}`),
      holdBar(node.gpus, parts('gpus'), (n) => count(n, 'GPU'), true)],
    node.memory_mb !== null && [html('div', { class: 'tile-what' }, `${memory(node.memory_held_mb + node.memory_used_mb)} of ${memory(node.memory_mb)} memory`),
      holdBar(node.memory_mb, memoryParts(jobs), memory, false)],
  ];
}

const TILE_JOBS = 8;

function nodeTile(node) {
  const jobs = node.jobs.map((id) => yard.jobs.get(id)).filter(Boolean);
  return html('article', { class: `tile ${node.state}`, 'data-key': node.name, 'aria-label': `Node ${visible(node.name)}` },
    html('div', { class: 'tile-head' },
      html('a', { href: '#/nodes', class: 'name' }, visible(node.name)),
      html('span', { class: `state node-${node.state}` }, node.state)),
    tileBars(node, jobs),
    html('ul', { class: 'tile-jobs' },
      jobs.slice(0, TILE_JOBS).map((job) =>
        html('li', { 'data-key': job.id }, html('i', { class: `key ${jobColour(job.id)}` }), jobLink(job),
          html('span', { class: 'dim' }, sizeText(job)))),
      jobs.length > TILE_JOBS && html('li', { class: 'dim' }, `and ${jobs.length - TILE_JOBS} more`)),
    node.notice && html('p', { class: 'tile-notice' }, visible(node.notice)));
}
