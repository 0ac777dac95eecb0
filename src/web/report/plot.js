// A chart of step curves with axes, a crosshair for pointer and keyboard, and
// names beside the curves where there is room. It draws itself again when its
// width changes.
'use strict';

// Index of the last x that is not after `at`; -1 when there is none.
function indexAt(xs, at) {
  let lo = 0;
  let hi = xs.length;
  while (lo < hi) {
    const middle = (lo + hi) >> 1;
    if (xs[middle] <= at) lo = middle + 1;
    else hi = middle;
  }
  return lo - 1;
}

const round1 = (v) => Math.round(v * 10) / 10;

// The outline of values that each hold until the next x.
function stepPath(frame, xs, ys, from) {
  let path = from === undefined ? '' : `M${round1(frame.x(frame.lo))} ${round1(frame.y(from))}`;
  for (let i = 0; i < xs.length; i++) {
    const x = round1(frame.x(xs[i]));
    const y = round1(frame.y(ys[i]));
    path += path ? `H${x}V${y}` : `M${x} ${y}`;
  }
  return `${path}H${round1(frame.x(frame.hi))}`;
}

// There along the upper outline, and back along the lower one or the axis.
function areaPath(frame, xs, upper, lower) {
  let path = stepPath(frame, xs, upper);
  if (!lower) return `${path}V${round1(frame.y(0))}H${round1(frame.x(xs[0]))}Z`;
  for (let i = xs.length - 1; i >= 0; i--) {
    path += `V${round1(frame.y(lower[i]))}H${round1(frame.x(xs[i]))}`;
  }
  return `${path}Z`;
}

function makeFrame(spec, width) {
  const digits = Math.max(...spec.y.ticks.map((tick) => tick.text.length));
  const left = Math.max(spec.left ?? 46, digits * 8 + 10);
  const margin = { top: 10, right: 14, bottom: spec.axis === false ? 6 : 28, left };
  const inner = {
    w: Math.max(40, width - margin.left - margin.right),
    h: spec.height - margin.top - margin.bottom,
  };
  const { lo, hi, log } = spec.x;
  const share = log
    ? (v) => Math.log(Math.max(v, lo) / lo) / Math.log(hi / lo)
    : (v) => (v - lo) / (hi - lo);
  return {
    width,
    margin,
    inner,
    lo,
    hi,
    x: (v) => margin.left + Math.min(1, Math.max(0, share(v))) * inner.w,
    y: (v) => margin.top + (1 - v / spec.y.hi) * inner.h,
    unx: (px) => {
      const s = Math.min(1, Math.max(0, (px - margin.left) / inner.w));
      return log ? lo * (hi / lo) ** s : lo + s * (hi - lo);
    },
  };
}

function drawAxes(spec, frame) {
  const { margin, inner } = frame;
  const bottom = margin.top + inner.h;
  const parts = [];
  for (const tick of spec.y.ticks) {
    const y = Math.round(frame.y(tick.at)) + 0.5;
    parts.push(
      svg('line', {
        class: tick.at ? 'grid' : 'base',
        x1: margin.left,
        x2: margin.left + inner.w,
        y1: y,
        y2: y,
      }),
      svg('text', { x: margin.left - 8, y: y + 4, 'text-anchor': 'end' }, tick.text),
    );
  }
  if (spec.axis === false) return parts;
  const ticks = spec.x.log
    ? logTicks(frame.lo, frame.hi, frame.x, 58)
    : timeTicks(frame.lo, frame.hi, Math.max(4, Math.floor(inner.w / 80)));
  for (const tick of ticks) {
    const x = Math.round(frame.x(tick.at)) + 0.5;
    const edge = x > margin.left + inner.w - 14 ? 'end' : 'middle';
    parts.push(
      svg('line', { class: 'base', x1: x, x2: x, y1: bottom, y2: bottom + 5 }),
      svg(
        'text',
        { x: edge === 'end' ? x + 12 : x, y: bottom + 20, 'text-anchor': edge },
        tick.text,
      ),
    );
  }
  return parts;
}

function drawSeries(spec, frame, series) {
  const { x, y, lo, hi } = series.curve;
  const colour = policyColour(series.index);
  const parts = [];
  if (!x.length) return parts;
  if (spec.filled)
    parts.push(svg('path', { class: 'area', style: `fill:${colour}`, d: areaPath(frame, x, y) }));
  if (lo)
    parts.push(
      svg('path', { class: 'band', style: `fill:${colour}`, d: areaPath(frame, x, hi, lo) }),
    );
  parts.push(
    svg('path', {
      class: 'curve',
      style: `stroke:${colour}`,
      'stroke-dasharray': policyDash(series.index),
      'data-policy': series.index,
      d: stepPath(frame, x, y, spec.from),
    }),
  );
  return parts;
}

// Moments that matter: a triangle at the top for what came, at the bottom for
// what went, and what it was in words.
function drawMarks(spec, frame) {
  const top = frame.margin.top;
  const bottom = top + frame.inner.h;
  return (spec.marks || []).map(({ at, came, text }) => {
    const x = round1(frame.x(at));
    const tipY = came ? top + 8 : bottom - 8;
    const baseY = came ? top : bottom;
    return svg(
      'g',
      { class: came ? 'mark came' : 'mark went' },
      svg('title', text),
      svg('line', { x1: x, x2: x, y1: top, y2: bottom }),
      svg('path', { d: `M${x - 4} ${baseY}H${x + 4}L${x} ${tipY}Z` }),
    );
  });
}

const overlaps = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

// Whether another curve runs through the box.
function crossed(box, frame, others) {
  return others.some(({ curve }) => {
    for (let px = box.x; px <= box.x + box.w; px += 6) {
      const i = indexAt(curve.x, frame.unx(px));
      const y = frame.y(i < 0 ? 0 : curve.y[i]);
      if (y > box.y - 2 && y < box.y + box.h + 2) return true;
    }
    return false;
  });
}

// Places for the name of a rising curve: below it on the right or above it on
// the left of where it reaches some height. There it is clear of the curve.
function namePlaces(frame, curve, w) {
  const right = frame.margin.left + frame.inner.w;
  return [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9]
    .flatMap((level) => {
      const i = curve.y.findIndex((v) => v >= level);
      if (i < 0) return [];
      const x = frame.x(curve.x[i]);
      const y = frame.y(level);
      return [
        { x: x + 8, y: y + 1, w, h: 16 },
        { x: x - 8 - w, y: y - 17, w, h: 16 },
      ];
    })
    .filter((box) => box.x > frame.margin.left && box.x + w < right);
}

// Names beside the curves, where they touch no other name and no other curve;
// the legend has those that find no place.
function drawNames(frame, all) {
  const taken = [];
  const parts = [];
  for (const series of all) {
    const text = shortened(series.name, 28);
    const others = all.filter((s) => s !== series);
    const place = namePlaces(frame, series.curve, text.length * 7.7 + 4).find(
      (box) => !taken.some((t) => overlaps(t, box)) && !crossed(box, frame, others),
    );
    if (!place) continue;
    taken.push(place);
    parts.push(
      svg(
        'text',
        {
          class: 'direct',
          x: place.x,
          y: place.y + 12,
          style: `fill:${policyColour(series.index)}`,
        },
        text,
      ),
    );
  }
  return parts;
}

// The values under the crosshair: a line, dots, and a tooltip.
function makeCrosshair(spec, frame, root) {
  const line = svg('line', {
    class: 'cross',
    y1: frame.margin.top,
    y2: frame.margin.top + frame.inner.h,
  });
  const group = svg('g', { visibility: 'hidden' }, line);
  const hide = () => {
    group.setAttribute('visibility', 'hidden');
    tip.hide();
  };
  const show = (px, pageY) => {
    const at = frame.unx(px);
    const x = round1(frame.x(at));
    line.setAttribute('x1', x);
    line.setAttribute('x2', x);
    const found = spec
      .shown()
      .map((series) => {
        const i = indexAt(series.curve.x, at);
        return { series, value: i < 0 ? (spec.from ?? null) : series.curve.y[i], i };
      })
      .filter((f) => f.value !== null)
      .sort((a, b) => b.value - a.value);
    group.replaceChildren(
      line,
      ...found.map(({ series, value }) =>
        svg('circle', {
          class: 'dot',
          cx: x,
          cy: round1(frame.y(value)),
          r: 4.5,
          style: `fill:${policyColour(series.index)}`,
        }),
      ),
    );
    group.setAttribute('visibility', 'visible');
    const box = root.getBoundingClientRect();
    tip.show(
      box.left + px,
      pageY ?? box.top + frame.margin.top,
      html('b', spec.when(at)),
      ...found.map(({ series, value, i }) =>
        html(
          'div',
          { class: 'row' },
          swatch(series.index),
          html('span', { class: 'name' }, series.name),
          html('b', spec.value(value, series, i)),
        ),
      ),
    );
  };
  return { group, show, hide };
}

function listen(root, frame, cross) {
  let px = frame.margin.left;
  const follow = (event) => {
    px = event.clientX - root.getBoundingClientRect().left;
    cross.show(px, event.clientY);
  };
  root.addEventListener('pointermove', follow);
  root.addEventListener('pointerdown', follow);
  root.addEventListener('pointerleave', cross.hide);
  root.addEventListener('blur', cross.hide);
  root.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === 'Escape') cross.hide();
    if (!step) return;
    event.preventDefault();
    px = Math.min(
      frame.margin.left + frame.inner.w,
      Math.max(frame.margin.left, px + (step * frame.inner.w) / 60),
    );
    cross.show(px);
  });
}

// spec: height, x {lo, hi, log}, y {hi, ticks}, shown() -> [{index, name,
// curve}], when(x) and value(y) in words, label for those who cannot see it;
// `filled` draws areas, `from` is the value before the first x, `names` writes
// names beside the curves, `axis` false leaves out the time axis, `left` is the
// least width of the labels of y, `marks`
// [{at, came, text}] marks moments.
function plot(box, spec) {
  let width = 0;
  const draw = () => {
    width = Math.round(box.clientWidth) || 640;
    const frame = makeFrame(spec, width);
    const shown = spec.shown();
    const root = svg('svg', {
      class: 'plot',
      width,
      height: spec.height,
      viewBox: `0 0 ${width} ${spec.height}`,
      role: 'img',
      tabindex: 0,
      'aria-label': `${spec.label} Left and right arrow keys read values.`,
    });
    const cross = makeCrosshair(spec, frame, root);
    root.append(
      ...drawAxes(spec, frame),
      ...shown.flatMap((s) => drawSeries(spec, frame, s)),
      ...(spec.names ? drawNames(frame, shown) : []),
      ...drawMarks(spec, frame),
      cross.group,
    );
    listen(root, frame, cross);
    box.replaceChildren(root);
  };
  draw();
  new ResizeObserver(() => {
    if (Math.round(box.clientWidth) !== width) draw();
  }).observe(box);
  return { draw, spec };
}
