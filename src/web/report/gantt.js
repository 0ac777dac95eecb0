// The Gantt chart: a row for each job in the order of their starts, a bar for
// each time during which its allocation did not change, shaded by its units.
// Drawn on a canvas: there may be a hundred thousand bars, and rows thinner
// than a pixel.
'use strict';

const GANTT = { axis: 26, tall: 560, row: 18, leastRows: 6, label: 11 };

// Rows of one policy: jobs that ever ran, by first start and then by order of
// submission, each with its range of bars.
function ganttRows(bars, n) {
  const first = new Int32Array(n).fill(-1);
  const last = new Int32Array(n).fill(-1);
  const jobs = [];
  for (let i = 0; i < bars.n; i++) {
    const job = bars.job[i];
    if (first[job] < 0) {
      first[job] = i;
      jobs.push(job);
    }
    last[job] = i;
  }
  jobs.sort((a, b) => bars.from[first[a]] - bars.from[first[b]] || a - b);
  const rowOf = new Int32Array(n).fill(-1);
  jobs.forEach((job, row) => {
    rowOf[job] = row;
  });
  return { jobs, first, last, rowOf };
}

// Whole units: up to six shades by powers of two of the largest number held.
function wholeShades(most) {
  const top = Math.floor(Math.log2(most));
  const n = Math.min(6, top + 1);
  const from = Array.from({ length: n }, (_, k) => 2 ** Math.ceil((k * top) / Math.max(1, n - 1)));
  const labels = from.map((least, k) => {
    const last = k + 1 < n ? from[k + 1] - 1 : most;
    return least < last ? `${least} to ${last}` : `${least}`;
  });
  return {
    labels,
    of: (u) => (top ? Math.floor((Math.max(0, Math.floor(Math.log2(u))) * (n - 1)) / top) : 0),
  };
}

// Fractions, as of shared CPUs: five equal steps.
function fractionShades(most) {
  const labels = [1, 2, 3, 4, 5].map((k) => `≤ ${+((most * k) / 5).toPrecision(2)}`);
  return { labels, of: (u) => Math.max(0, Math.min(4, Math.ceil((u / most) * 5 - 1e-9) - 1)) };
}

function makeShades(report) {
  let most = 0;
  let whole = true;
  for (const p of report.policies) {
    for (const u of p.bars().units) {
      most = Math.max(most, u);
      whole = whole && Number.isInteger(u);
    }
  }
  const shades = whole ? wholeShades(Math.max(1, most)) : fractionShades(most);
  const n = shades.labels.length;
  // Few shades are spread over the whole ramp.
  return { ...shades, n, ramp: (k) => (n > 1 ? Math.round((k * 5) / (n - 1)) : 3) };
}

class Gantt {
  constructor(report, box) {
    this.report = report;
    this.box = box;
    this.canvas = box.querySelector('canvas');
    this.shades = makeShades(report);
    this.picked = -1;
    this.pending = 0;
    new ResizeObserver(() => this.resize()).observe(box);
    addEventListener('themechange', () => this.resize());
  }

  setPolicy(policy) {
    this.policy = policy;
    this.bars = policy.bars();
    this.rows = ganttRows(this.bars, this.report.jobs.n);
    this.fit();
    this.resize();
  }

  fit() {
    this.view = { x0: 0, x1: this.report.end || 1, y0: 0, y1: Math.max(1, this.rows.jobs.length) };
    this.draw();
  }

  // The left margin holds names when rows are high enough for them.
  resize() {
    const width = this.box.clientWidth;
    const ratio = devicePixelRatio || 1;
    if (!width || !this.rows) return;
    const rows = this.rows.jobs.length;
    this.height = Math.min(GANTT.tall, Math.max(4, rows) * GANTT.row) + GANTT.axis;
    this.width = width;
    this.left = width < 560 ? 64 : 128;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.ratio = ratio;
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.paint = {
      wait: this.colour('wait'),
      ink: this.colour('ink'),
      soft: this.colour('soft'),
      line: this.colour('line'),
      grid: this.colour('grid'),
      paper: this.colour('paper'),
      pick: this.colour('pick'),
      raised: this.colour('raised'),
      shade: Array.from({ length: this.shades.n }, (_, k) =>
        this.colour(`u${this.shades.ramp(k)}`),
      ),
    };
    this.render();
  }

  draw() {
    this.pending ||= requestAnimationFrame(() => this.render());
  }

  get plotWidth() {
    return this.width - this.left - 8;
  }
  get plotHeight() {
    return this.height - GANTT.axis;
  }
  get rowHeight() {
    return this.plotHeight / (this.view.y1 - this.view.y0);
  }
  px(t) {
    return this.left + ((t - this.view.x0) / (this.view.x1 - this.view.x0)) * this.plotWidth;
  }
  py(row) {
    return (row - this.view.y0) * this.rowHeight;
  }
  time(px) {
    return this.view.x0 + ((px - this.left) / this.plotWidth) * (this.view.x1 - this.view.x0);
  }
  row(py) {
    return this.view.y0 + py / this.rowHeight;
  }

  render() {
    this.pending = 0;
    if (!this.width) return;
    const g = this.canvas.getContext('2d');
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.fillStyle = this.paint.paper;
    g.fillRect(0, 0, this.width, this.height);
    this.renderGrid(g);
    if (!this.rows.jobs.length)
      g.fillText('No job ran.', this.left + this.plotWidth / 2, this.plotHeight / 2);
    g.save();
    g.beginPath();
    g.rect(this.left, 0, this.plotWidth + 8, this.plotHeight);
    g.clip();
    this.renderPickedRow(g);
    const from = Math.max(0, Math.floor(this.view.y0));
    const to = Math.min(this.rows.jobs.length, Math.ceil(this.view.y1));
    for (let row = from; row < to; row++) this.renderWaiting(g, row);
    for (let row = from; row < to; row++) this.renderBars(g, row);
    if (this.rowHeight >= 6) for (let row = from; row < to; row++) this.renderDeadline(g, row);
    g.restore();
    this.renderLabels(g, from, to);
  }

  renderGrid(g) {
    g.font = '12.5px system-ui, "Liberation Sans", sans-serif';
    g.textBaseline = 'middle';
    const ticks = timeTicks(
      this.view.x0,
      this.view.x1,
      Math.max(4, Math.floor(this.plotWidth / 80)),
    );
    for (const tick of ticks) {
      const x = Math.round(this.px(tick.at)) + 0.5;
      g.fillStyle = this.paint.grid;
      g.fillRect(x - 0.5, 0, 1, this.plotHeight);
      g.fillStyle = this.paint.soft;
      g.textAlign = x > this.width - 24 ? 'right' : 'center';
      g.fillText(tick.text, g.textAlign === 'right' ? this.width - 6 : x, this.plotHeight + 13);
    }
    g.fillStyle = this.paint.line;
    g.fillRect(0, this.plotHeight, this.width, 1);
    g.fillRect(this.left - 1, 0, 1, this.plotHeight);
    g.fillStyle = this.paint.soft;
    g.textAlign = 'center';
  }

  renderPickedRow(g) {
    const row = this.picked < 0 ? -1 : this.rows.rowOf[this.picked];
    if (row < 0) return;
    g.fillStyle = this.paint.raised;
    g.fillRect(this.left, this.py(row) - 1, this.plotWidth + 8, Math.max(3, this.rowHeight) + 2);
  }

  // Waiting: from the submission to the first bar, and between bars.
  renderWaiting(g, row) {
    const { first, last } = this.rows;
    const job = this.rows.jobs[row];
    const bars = this.bars;
    const thin = this.rowHeight >= 5;
    const h = thin ? 2 : Math.max(1, this.rowHeight);
    const y = this.py(row) + (thin ? this.rowHeight / 2 - 1 : 0);
    g.fillStyle = this.paint.wait;
    let since = this.report.jobs.submit[job];
    for (let i = first[job]; i <= last[job]; i++) {
      if (bars.from[i] > since) this.rect(g, since, bars.from[i], y, h, 0);
      since = bars.to[i];
    }
  }

  renderBars(g, row) {
    const { first, last } = this.rows;
    const job = this.rows.jobs[row];
    const bars = this.bars;
    const inset = this.rowHeight >= 4 ? Math.max(0.5, this.rowHeight * 0.12) : 0;
    const h = Math.max(1, this.rowHeight - 2 * inset);
    const y = this.py(row) + inset;
    for (let i = first[job]; i <= last[job]; i++) {
      g.fillStyle =
        job === this.picked ? this.paint.pick : this.paint.shade[this.shades.of(bars.units[i])];
      this.rect(g, bars.from[i], bars.to[i], y, h, 1);
    }
  }

  // At least `least` pixels wide; not drawn when out of sight.
  rect(g, from, to, y, h, least) {
    const x0 = Math.max(this.px(from), this.left - 2);
    const x1 = Math.min(this.px(to), this.width + 2);
    if (x1 < this.left || x0 > this.width) return;
    g.fillRect(x0, y, Math.max(least, x1 - x0 - (least && x1 - x0 > 3 ? 0.5 : 0)), h);
  }

  renderDeadline(g, row) {
    const job = this.rows.jobs[row];
    const due = this.report.jobs.deadline[job];
    if (Number.isNaN(due)) return;
    const missed = !(this.policy.rows().end[job] <= due);
    g.fillStyle = missed ? this.paint.pick : this.paint.ink;
    g.fillRect(Math.round(this.px(due)) - 1, this.py(row) + 1, 2, this.rowHeight - 2);
  }

  // Names of jobs, or how many rows lie above when they are too thin.
  renderLabels(g, from, to) {
    g.fillStyle = this.paint.soft;
    g.textAlign = 'right';
    g.font = '11.5px ui-monospace, "Liberation Mono", monospace';
    if (this.rowHeight < GANTT.label) {
      const rows = this.view.y1 - this.view.y0;
      const step = countTicks(Math.max(1, rows), 8)[1]?.at || 1;
      for (let row = Math.ceil(this.view.y0 / step) * step; row <= this.view.y1; row += step) {
        const y = Math.max(8, Math.min(this.plotHeight - 8, this.py(row)));
        g.fillText(ordinal(row || 1), this.left - 8, y);
      }
      return;
    }
    const fits = Math.floor((this.left - 12) / 7);
    g.save();
    g.beginPath();
    g.rect(0, 0, this.left, this.plotHeight);
    g.clip();
    for (let row = from; row < to; row++) {
      const job = this.rows.jobs[row];
      g.fillStyle = job === this.picked ? this.paint.pick : this.paint.soft;
      g.fillText(
        shortened(this.report.jobs.name[job], fits),
        this.left - 8,
        this.py(row) + this.rowHeight / 2,
      );
    }
    g.restore();
  }

  // Keeps the view inside the chart.
  setView(x0, x1, y0, y1) {
    const end = this.report.end || 1;
    const rows = Math.max(1, this.rows.jobs.length);
    const span = Math.min(end, Math.max(x1 - x0, end / 1e5));
    const tall = Math.min(rows, Math.max(y1 - y0, Math.min(rows, GANTT.leastRows)));
    const left = Math.min(Math.max(0, x0), end - span);
    const top = Math.min(Math.max(0, y0), rows - tall);
    this.view = { x0: left, x1: left + span, y0: top, y1: top + tall };
    this.draw();
  }

  zoom(factor, px = this.left + this.plotWidth / 2, py = this.plotHeight / 2, rowsToo = true) {
    const { x0, x1, y0, y1 } = this.view;
    const t = this.time(px);
    const r = this.row(py);
    const fy = rowsToo ? factor : 1;
    this.setView(
      t - (t - x0) * factor,
      t + (x1 - t) * factor,
      r - (r - y0) * fy,
      r + (y1 - r) * fy,
    );
  }

  pan(dx, dy) {
    const { x0, x1, y0, y1 } = this.view;
    const t = (dx / this.plotWidth) * (x1 - x0);
    const r = dy / this.rowHeight;
    this.setView(x0 + t, x1 + t, y0 + r, y1 + r);
  }

  // The job under a point, -1 for none.
  jobAt(px, py) {
    if (py < 0 || py >= this.plotHeight) return -1;
    return this.rows.jobs[Math.floor(this.row(py))] ?? -1;
  }

  // Marks a job; brings its row into sight when `reveal` is set, with its time
  // when it is out of sight. False when the chart does not have it.
  pick(job, reveal) {
    this.picked = job;
    const row = job < 0 ? -1 : this.rows.rowOf[job];
    if (row >= 0 && reveal) this.reveal(job, row);
    this.draw();
    return row >= 0;
  }

  reveal(job, row) {
    const { x0, x1, y0, y1 } = this.view;
    const bars = this.bars;
    const from = this.report.jobs.submit[job];
    const to = bars.to[this.rows.last[job]];
    const length = Math.max(to - from, this.report.end / 1e4);
    const seen = from < x1 && to > x0;
    const [nx0, nx1] = seen ? [x0, x1] : [from - length * 0.3, to + length * 0.3];
    const tall = y1 - y0;
    const inside = row >= y0 && row + 1 <= y1;
    const ny0 = inside ? y0 : row < y0 ? row - 1 : row + 2 - tall;
    this.setView(nx0, nx1, ny0, ny0 + tall);
  }

  // Frames one job: its whole life, in rows that can be read.
  frame(job) {
    const row = this.rows.rowOf[job];
    if (row < 0) return;
    const from = this.report.jobs.submit[job];
    const to = this.bars.to[this.rows.last[job]];
    const pad = Math.max((to - from) * 0.35, this.report.end / 1e4);
    const rows = this.plotHeight / GANTT.row;
    this.setView(from - pad, to + pad, row + 0.5 - rows / 2, row + 0.5 + rows / 2);
  }
}
