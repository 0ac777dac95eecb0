// The charts that compare all policies: completion times, queue, utilisation,
// deadlines.
'use strict';

const nothing = (text) => html('p', { class: 'empty' }, text);

// The range of completion times; a log axis begins at the fastest job.
function cdfRange(report, log) {
  const xs = report.policies.filter((p) => p.cdf.x.length).map((p) => p.cdf.x);
  const hi = Math.max(...xs.map((x) => x[x.length - 1]), report.tick);
  if (!log) return { lo: 0, hi: hi * 1.02, log };
  const least = Math.min(...xs.map((x) => x.find((v) => v > 0) ?? hi));
  return { lo: Math.min(least, hi / 10) * 0.9, hi: hi * 1.15, log };
}

function drawCdf(report, shown) {
  const box = byId('cdf');
  const buttons = byId('cdf-scale').querySelectorAll('button');
  if (report.policies.every((p) => !p.cdf.x.length)) {
    byId('cdf-scale').hidden = true;
    box.append(nothing('No job finished.'));
    return null;
  }
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: `${at * 100} %` }));
  const chart = plot(box, {
    height: 380,
    x: cdfRange(report, true),
    y: { hi: 1, ticks },
    from: 0,
    names: report.policies.length > 1,
    shown: () => shown().map((p) => ({ index: p.index, name: p.name, curve: p.cdf })),
    when: (x) => `within ${duration(x)}`,
    value: (share) => percent(share),
    label: 'Share of jobs completed within a time, by policy.',
  });
  const choose = (scale) => {
    buttons.forEach((b) => b.setAttribute('aria-pressed', b.dataset.scale === scale));
    chart.spec.x = cdfRange(report, scale === 'log');
    chart.draw();
  };
  buttons.forEach((b) => b.addEventListener('click', () => choose(b.dataset.scale)));
  choose('log');
  return chart;
}

// Mean of a slice with its lowest and highest, or the value itself.
function inWords(spell) {
  return (value, series, i) => {
    const { lo, hi } = series.curve;
    if (!lo || i < 0 || lo[i] === hi[i]) return spell(value);
    return `${spell(value)} (${spell(lo[i])} to ${spell(hi[i])})`;
  };
}

function drawQueue(report, shown) {
  const drawn = report.policies.filter((p) => p.queue);
  if (!drawn.length) {
    byId('queue').append(nothing('No samples over time were recorded.'));
    return null;
  }
  const hi = Math.max(
    1,
    ...drawn.map((p) => (p.queue.hi || p.queue.y).reduce((a, b) => Math.max(a, b), 0)),
  );
  const whole = (v) => grouped(v, Number.isInteger(v) ? 0 : 1);
  return plot(byId('queue'), {
    height: 260,
    x: { lo: 0, hi: report.end || report.tick },
    y: { hi: hi * 1.04, ticks: countTicks(hi, 5) },
    shown: () =>
      shown()
        .filter((p) => p.queue)
        .map((p) => ({ index: p.index, name: p.name, curve: p.queue })),
    when: (x) => `at ${moment(x)}`,
    value: inWords(whole),
    label: 'Jobs waiting over time, by policy.',
  });
}

// One band for each policy, on the same time axis.
function drawUsed(report) {
  const drawn = report.policies.filter((p) => p.used);
  if (!drawn.length) byId('used').append(nothing('No samples over time were recorded.'));
  const ticks = [0, 0.5, 1].map((at) => ({ at, text: `${at * 100} %` }));
  drawn.forEach((p, k) => {
    const box = html('div');
    const last = k === drawn.length - 1;
    const mean =
      p.figures.utilization === null ? '' : `${percent(p.figures.utilization)} on average`;
    byId('used').append(
      html(
        'div',
        { class: 'used-head' },
        swatch(p.index),
        html('span', { class: 'name' }, p.name),
        html('span', { class: 'dim' }, mean),
      ),
      box,
    );
    plot(box, {
      height: last ? 104 : 82,
      axis: last,
      filled: true,
      x: { lo: 0, hi: report.end || report.tick },
      y: { hi: 1, ticks },
      shown: () => [{ index: p.index, name: p.name, curve: p.used }],
      when: (x) => `at ${moment(x)}`,
      value: inWords((v) => percent(v)),
      label: `Share of units in use over time under ${p.name}.`,
    });
  });
}

function deadlineRow(p) {
  const { deadline_jobs: all, deadline_met: met } = p.figures;
  const open = all - met - p.late;
  const colour = `background:${policyColour(p.index)}`;
  const part = (n, style, kind) =>
    n ? html('i', { class: kind, style: `flex:${n} 0 0;${style}` }) : null;
  return html(
    'div',
    { class: 'meet' },
    html('span', { class: 'name' }, p.name),
    html(
      'div',
      { class: 'track', 'aria-hidden': 'true' },
      part(met, colour),
      part(p.late, colour, 'late'),
      part(open, 'background:var(--wait)'),
    ),
    html(
      'div',
      { class: 'said' },
      html('b', `${grouped(met)} of ${grouped(all)} met`),
      ` (${percent(met / all)})`,
      p.late ? `; ${grouped(p.late)} late, the median one by ${duration(p.lateness)}` : '',
      open ? `; ${grouped(open)} not finished` : '',
    ),
  );
}

function drawDeadlines(report) {
  if (!report.policies[0].figures.deadline_jobs) return;
  byId('deadlines').hidden = false;
  byId('deadline-bars').append(...report.policies.map(deadlineRow));
}
