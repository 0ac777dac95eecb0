// Axes: where their ticks are and what they say.
'use strict';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;

const TIME_STEPS = [
  0.001,
  0.002,
  0.005,
  0.01,
  0.02,
  0.05,
  0.1,
  0.2,
  0.5,
  1,
  2,
  5,
  10,
  15,
  30,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  5 * DAY,
  10 * DAY,
  20 * DAY,
  50 * DAY,
  100 * DAY,
  200 * DAY,
  500 * DAY,
  1000 * DAY,
  2000 * DAY,
  5000 * DAY,
  10000 * DAY,
  20000 * DAY,
  50000 * DAY,
];

// A point in time, exact to `step`: "2d 18:30:05", "18h 30m", "3m 05s".
function moment(t, step = 1) {
  const whole = Math.floor(t + 1e-9);
  const rest = step < 1 ? (t - whole).toFixed(3).slice(1) : '';
  const d = Math.floor(whole / DAY);
  const h = Math.floor(whole / HOUR) % 24;
  const m = Math.floor(whole / MINUTE) % 60;
  const s = twoDigits(whole % 60) + rest;
  const fine = step < MINUTE;
  if (d && step >= HOUR) return `${grouped(d)}d ${twoDigits(h)}h`;
  if (d) return `${grouped(d)}d ${twoDigits(h)}:${twoDigits(m)}${fine ? `:${s}` : ''}`;
  if (h) return `${h}h ${twoDigits(m)}m${fine ? ` ${s}s` : ''}`;
  if (m) return fine ? `${m}m ${s}s` : `${m} min`;
  return `${+(whole + Number(`0${rest}`)).toFixed(3)} s`;
}

// In the largest unit that gives a whole number.
function timeTick(t) {
  if (t === 0) return '0';
  for (const [size, unit] of [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'min'],
    [1, 's'],
  ]) {
    if (t >= size && Math.abs(t / size - Math.round(t / size)) < 1e-9) {
      return `${grouped(Math.round(t / size))} ${unit}`;
    }
  }
  return t < 1 ? `${Math.round(t * 1000)} ms` : `${+t.toFixed(3)} s`;
}

function multiples(step, lo, hi) {
  const ticks = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi * (1 + 1e-12) + 1e-12; k++)
    ticks.push(k * step);
  return ticks;
}

// Ticks of one axis share a unit, that of their step (0, 12 h, 24 h, 36 h), as
// long as its numbers stay small; far from zero they are moments (2d 18:30).
function timeTicks(lo, hi, most) {
  const step = TIME_STEPS.find((s) => (hi - lo) / s <= most) || TIME_STEPS[TIME_STEPS.length - 1];
  const [size, unit, small] = [
    [DAY, 'd', Infinity],
    [HOUR, 'h', 2 * DAY],
    [MINUTE, 'min', 3 * HOUR],
    [1, 's', 5 * MINUTE],
    [0.001, 'ms', 2],
  ].find(([s]) => step >= s);
  return multiples(step, lo, hi).map((at) => ({
    at,
    text: at === 0 ? '0' : hi <= small ? `${grouped(at / size)} ${unit}` : moment(at, step),
  }));
}

function countTicks(hi, most) {
  const rough = Math.max(hi / most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  return multiples(step, 0, hi).map((at) => ({ at, text: grouped(at) }));
}

const LOG_TIMES = [
  0.001,
  0.01,
  0.1,
  1,
  10,
  MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  DAY,
  7 * DAY,
  30 * DAY,
  100 * DAY,
  1000 * DAY,
  10000 * DAY,
  100000 * DAY,
];

// Round times rather than powers of ten, no two closer than `apart` pixels; a
// short range has them closer to each other.
function logTicks(lo, hi, place, apart) {
  const inside = (times) => times.filter((t) => t >= lo && t <= hi);
  const coarse = inside(LOG_TIMES);
  let last = -Infinity;
  return (coarse.length < 4 ? inside(TIME_STEPS) : coarse)
    .filter((t) => {
      if (place(t) - last < apart) return false;
      last = place(t);
      return true;
    })
    .map((at) => ({ at, text: timeTick(at) }));
}
