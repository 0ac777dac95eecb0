// Charts over time, drawn by dygraphs. Its legend is not used: it would write names
// as markup. Values under the pointer are shown by our tooltip, as text.
'use strict';

if (window.Dygraph) {
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
}

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Colours of a canvas do not follow the theme by themselves.
function themeOptions(series) {
  return {
    colors: series.map((one) => token(one.colour)),
    gridLineColor: token('--grid'),
    axisLineColor: token('--line'),
    highlightCircleSize: 4,
  };
}

// Seconds in short charts, dates in long ones.
function axisTime(at, granularity, options, graph) {
  const when = new Date(at);
  const [from, to] = graph.xAxisRange();
  if (to - from > 2 * 86_400_000) {
    return when.toLocaleDateString([], { day: 'numeric', month: 'short' });
  }
  const second = to - from < 900_000 ? '2-digit' : undefined;
  return when.toLocaleTimeString([], { hour12: false, hour: '2-digit', minute: '2-digit', second });
}

// A sentence for those who cannot see the chart.
function summary(spec) {
  const parts = spec.series.map((one, i) => {
    const values = spec.rows.map((row) => row[i + 1]).filter((v) => v !== null && !Number.isNaN(v));
    if (!values.length) return `${one.name}: no values`;
    const show = one.show || figure;
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return `${one.name}: ${show(values.at(-1))} at last, between ${show(least)} and ${show(most)}`;
  });
  return `${spec.label}. ${parts.join('; ')}. Left and right arrow keys read values.`;
}

function showTip(spec, row, x, y) {
  const values = spec.rows[row];
  if (!values) return;
  tip.show(
    x,
    y,
    html('b', spec.x ? spec.x.show(values[0]) : clockTime(values[0] / 1000)),
    ...spec.series.map((one, i) =>
      values[i + 1] === null || Number.isNaN(values[i + 1])
        ? null
        : html(
            'div',
            { class: 'row' },
            html('i', { class: `key ${one.colour.slice(2)}` }),
            html('span', { class: 'name' }, one.name),
            html('b', (one.show || figure)(values[i + 1])),
          ),
    ).filter(Boolean),
  );
}

// Moments that are marked by a line: [{at, colour, text, band: [from, to]}].
function drawMarks(spec, context, area, graph) {
  for (const mark of spec.marks || []) {
    const clip = (at) => Math.min(area.x + area.w, Math.max(area.x, graph.toDomXCoord(at)));
    if (mark.band) {
      const [from, to] = mark.band.map(clip);
      context.fillStyle = token(mark.colour);
      context.globalAlpha = 0.1;
      context.fillRect(from, area.y, to - from, area.h);
      context.globalAlpha = 1;
    }
    const x = Math.round(graph.toDomXCoord(mark.at)) + 0.5;
    if (x < area.x || x > area.x + area.w) continue;
    context.strokeStyle = token(mark.colour);
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(x, area.y);
    context.lineTo(x, area.y + area.h);
    context.stroke();
    context.setLineDash([]);
    if (mark.text) writeMark(context, area, x, mark);
  }
}

// Beside its line, on the side that has room.
function writeMark(context, area, x, mark) {
  context.font = `12px ${token('--sans')}`;
  context.fillStyle = token('--soft');
  const left = x + 6 + context.measureText(mark.text).width > area.x + area.w;
  context.textAlign = left ? 'right' : 'left';
  context.fillText(mark.text, left ? x - 6 : x + 6, area.y + (mark.text === 'deadline' ? 28 : 13));
}

function graphOptions(spec) {
  const per = {};
  spec.series.forEach((one, i) => {
    per[`s${i}`] = {
      stepPlot: Boolean(one.steps),
      fillGraph: Boolean(one.filled),
      strokeWidth: one.width ?? 2,
      strokePattern: one.dashed ? [4, 4] : null,
    };
  });
  return {
    ...themeOptions(spec.series),
    labels: ['x', ...spec.series.map((_, i) => `s${i}`)],
    series: per,
    fillAlpha: 0.18,
    connectSeparatedPoints: true,
    includeZero: spec.zero !== false,
    logscale: Boolean(spec.log),
    animatedZooms: false,
    rightGap: 6,
    xRangePad: 4,
    yRangePad: 4,
    axes: {
      x: {
        axisLabelFormatter: spec.x ? spec.x.show : axisTime,
        ticker: spec.x ? Dygraph.numericLinearTicks : Dygraph.dateTicker,
        axisLabelWidth: 66,
        drawGrid: false,
        pixelsPerLabel: 90,
      },
      y: {
        axisLabelFormatter: spec.axis || figure,
        axisLabelWidth: 52,
        pixelsPerLabel: spec.class === 'short' ? 24 : 36,
        includeZero: spec.zero !== false,
      },
    },
    underlayCallback: (context, area, graph) => drawMarks(spec, context, area, graph),
    highlightCallback: (event, x, points, row) => {
      spec.row = row;
      if (event.clientX === undefined) return; // chosen by keys, or in a linked chart
      spec.keys = false;
      showTip(spec, row, event.clientX, event.clientY);
    },
    // A page that scrolls under a pointer at rest must not hide what the keys have shown.
    unhighlightCallback: () => spec.keys || tip.hide(),
  };
}

// Rows from one end of the window to the other, so that charts with the same window have
// the same axis: what holds before it begins with it, and empty rows reach to its ends.
function fitRows(rows, series, window) {
  if (!window || !rows.length) return rows;
  const [from, to] = window;
  const empty = (at) => [at, ...series.map(() => null)];
  const first = rows.findLast(([at]) => at <= from);
  const inside = rows.filter(([at]) => at > from && at < to);
  const last = rows.findLast(([at]) => at >= to);
  return [first ? [from, ...first.slice(1)] : empty(from), ...inside, last ? [to, ...last.slice(1)] : empty(to)];
}

function readByKeys(box, spec, graph) {
  box.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === 'Escape') tip.hide();
    if (!step) return;
    event.preventDefault();
    spec.keys = true;
    const last = spec.rows.length - 1;
    const stride = Math.max(1, Math.round(last / 60));
    spec.row = Math.min(last, Math.max(0, (spec.row ?? last) + step * stride));
    graph().setSelection(spec.row);
    const place = box.getBoundingClientRect();
    showTip(spec, spec.row, place.left + graph().toDomXCoord(spec.rows[spec.row][0]), place.top);
  });
  box.addEventListener('blur', () => {
    spec.keys = false;
    graph()?.clearSelection();
    tip.hide();
  });
}

// spec: label; series [{name, colour: '--s0', steps, filled, width, dashed, show}];
// rows [[x, y...]] with x in milliseconds, or as spec.x {show(x)} says; axis(y) in
// words; zero: false when the axis need not begin there; log; marks; window [from, to],
// which the axis shows.
// Returns the element, with set(rows, more) and end().
function timeChart(spec) {
  const canvas = html('div', { class: 'graph' });
  const box = html('div', { class: `chart ${spec.class || ''}`, tabindex: 0, role: 'img' }, canvas);
  let graph = null;
  let drawn;
  const ready = new Promise((resolve) => {
    drawn = resolve;
  });
  const draw = () => {
    spec.rows = fitRows(spec.rows, spec.series, spec.window);
    box.setAttribute('aria-label', summary(spec));
    if (!spec.rows.length || !canvas.clientWidth) return;
    // Only what changes: callbacks may have been wrapped by linkCharts().
    if (graph) graph.updateOptions({ ...themeOptions(spec.series), file: spec.rows });
    else graph = new Dygraph(canvas, spec.rows, graphOptions(spec));
    drawn();
  };
  const resized = new ResizeObserver(() => {
    if (graph) graph.resize();
    else draw();
  });
  resized.observe(canvas);
  addEventListener('themechange', draw);
  readByKeys(box, spec, () => graph);
  return {
    box,
    ready,
    graph: () => graph,
    spec,
    set(rows, more = {}) {
      Object.assign(spec, more, { rows });
      draw();
    },
    end() {
      removeEventListener('themechange', draw);
      resized.disconnect();
      graph?.destroy();
      graph = null;
      tip.hide();
    },
  };
}

// Charts with one time axis: zoom and selection of one are those of all. A chart is
// drawn when it has a size, so this waits for all of them.
function linkCharts(charts) {
  let link = null;
  let detached = false;
  Promise.all(charts.map((chart) => chart.ready)).then(() => {
    const graphs = charts.map((chart) => chart.graph()).filter(Boolean);
    if (!detached && graphs.length > 1) link = Dygraph.synchronize(graphs, { range: false });
  });
  return {
    detach() {
      detached = true;
      link?.detach();
    },
  };
}
