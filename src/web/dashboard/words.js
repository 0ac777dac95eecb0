// How times, sizes and states are spelt. Times are in the reader's zone and locale.
'use strict';

const ACTIVE = ['held', 'queued', 'starting', 'running', 'stopping'];
const STATES = [...ACTIVE, 'done', 'failed', 'cancelled', 'timeout', 'lost'];
const isActive = (job) => ACTIVE.includes(job.state);
const isWaiting = (job) => job.state === 'held' || job.state === 'queued';
const isRunning = (job) => job.state === 'running' || job.state === 'starting';

const nowSeconds = () => Date.now() / 1000;

const sameDay = (a, b) => a.toDateString() === b.toDateString();

// "14:03:22", or with the date when that is not today.
function clockTime(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  const at = new Date(seconds * 1000);
  const time = at.toLocaleTimeString([], { hour12: false });
  if (sameDay(at, new Date())) return time;
  const day = at.toLocaleDateString([], { day: 'numeric', month: 'short' });
  return `${day}, ${time.slice(0, 5)}`;
}

const fullTime = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString() : '');

function timeElement(seconds) {
  if (seconds === null || seconds === undefined) return html('span', { class: 'dim' }, '–');
  const at = new Date(seconds * 1000);
  return html(
    'time',
    { datetime: at.toISOString(), title: fullTime(seconds) },
    clockTime(seconds),
  );
}

// 1.5 -> "1.5", 2 -> "2".
const units = (n) => String(Math.round(n * 1000) / 1000);
const cpuCount = (n) => `${units(n)} CPU${n === 1 ? '' : 's'}`;

function memory(mb) {
  if (mb === null || mb === undefined) return '–';
  if (mb >= 1024 * 1024) return `${(mb / 1024 / 1024).toFixed(1)} TB`;
  return mb >= 1024 ? `${(mb / 1024).toFixed(mb < 10240 ? 1 : 0)} GB` : `${Math.round(mb)} MB`;
}

function bytes(n) {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KB`;
  return `${(n / 1024 / 1024).toFixed(1)} MB`;
}

// Values of losses and metrics: four digits that count.
function figure(value) {
  if (value === null || value === undefined) return '–';
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

// "2 of 1–4 CPUs", "1 GPU".
function sizeText(job) {
  const unit = job.gpus_max > 0 ? 'GPU' : 'CPU';
  const [now, min, max] =
    unit === 'GPU'
      ? [job.gpus, job.gpus_min, job.gpus_max]
      : [job.cpus, job.cpus_min, job.cpus_max];
  const range = min === max ? units(max) : `${units(min)}–${units(max)}`;
  const plural = min === max && max === 1 ? unit : `${unit}s`;
  return isRunning(job) && min !== max ? `${units(now)} of ${range} ${plural}` : `${range} ${plural}`;
}

const stateWord = (job) => (job.paused && job.state === 'running' ? 'paused' : job.state);

function statePill(job) {
  const word = stateWord(job);
  return html('span', { class: `state ${word}` }, word);
}

// The sentence behind a state: why it waits, how it ended.
function stateReason(job) {
  if (job.waits_for.length) return job.waits_for.map(waitText).join('; ');
  // "cancelled" says nothing that the state does not say.
  if (!isActive(job) && job.reason && job.reason !== job.state) return visible(job.reason);
  return '';
}

// What keeps a job out of the queue, in words: [pattern of the API's text, sentence].
const WAITS = [
  [/^hold$/, () => 'held until it is released'],
  [/^after:(\d+)$/, (id) => `waits until job ${id} has started`],
  [/^afterok:(\d+)$/, (id) => `waits until job ${id} is done`],
  [/^afternotok:(\d+)$/, (id) => `waits until job ${id} has failed`],
  [/^afterany:(\d+)$/, (id) => `waits until job ${id} has ended`],
  [/^singleton$/, () => 'waits until no other job of its name and user is active'],
  [/^array limit (\d+)$/, (n) => `waits: ${n} of its array may run at once`],
  [/^retry in (.*)$/, (span) => `starts again in ${span}`],
];

function waitText(text) {
  for (const [pattern, words] of WAITS) {
    const found = pattern.exec(text);
    if (found) return words(visible(found[1] ?? ''));
  }
  return `waits for ${visible(text)}`;
}

// Whether it will end, or has ended, too late.
function deadlineRisk(job) {
  if (job.deadline === null) return null;
  if (!isActive(job)) return job.ended > job.deadline ? 'missed' : null;
  if (nowSeconds() > job.deadline) return 'missed';
  const p = job.progress;
  if (!p || p.expected_end === null) return null;
  if (p.expected_end > job.deadline) return 'late';
  return (p.expected_end_high ?? 0) > job.deadline ? 'at risk' : null;
}

const jobLink = (job, ...attributes) =>
  html('a', { href: `#/jobs/${job.id}`, class: 'job-link', ...attributes[0] }, visible(job.name));

// Colours of jobs that hold something: each takes the first that is free and keeps it while
// it runs. After eight jobs the colours begin again with stripes, then with dots.
const COLOURS = 24;
const coloured = new Map();

function jobColour(id) {
  if (!coloured.has(id)) {
    for (const other of coloured.keys()) {
      const job = yard.jobs.get(other);
      if (!job || !isActive(job)) coloured.delete(other);
    }
    const taken = new Set(coloured.values());
    let free = 0;
    while (free < COLOURS - 1 && taken.has(free)) free++;
    coloured.set(id, taken.has(free) ? id % COLOURS : free);
  }
  const colour = coloured.get(id);
  return `c${colour % 8} p${Math.floor(colour / 8)}`;
}

// "lr=0.1 bs=32" of a member of a sweep, or ''.
const parameterList = (job) =>
  Object.entries(job.parameters || {}).map(([name, value]) => `${visible(name)}=${visible(String(value))}`).join(' ');

// The words of a command line as a shell would need them.
function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
