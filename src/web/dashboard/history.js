// What has happened to a job: its attempts as a table, its events as sentences.
'use strict';

function attemptTable(attempts) {
  if (!attempts.length) return html('p', { class: 'empty' }, 'It has not started yet.');
  const row = (a) => html('tr', { 'data-key': a.n },
    html('td', String(a.n)), html('td', { class: 'text' }, statePill({ ...a, paused: false })),
    html('td', { class: 'text' }, visible(a.node ?? '')), html('td', units(a.cpus)), html('td', clockTime(a.started)),
    html('td', clockTime(a.ended)), html('td', a.code === null ? '–' : String(a.code)),
    html('td', a.cpu_s === null ? '–' : duration(a.cpu_s)), html('td', memory(a.memory_max_mb)),
    html('td', { class: 'text wrap-text' }, visible(a.reason)));
  return html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Attempts' },
    html('table', html('thead', html('tr', ['', 'State', 'Node', 'CPUs', 'Started', 'Ended', 'Code', 'CPU time', 'Peak memory', 'Reason']
      .map((title, i) => html('th', { scope: 'col', class: [1, 2, 9].includes(i) ? 'text' : '' }, title || html('span', { class: 'unseen' }, 'Attempt'))))),
    html('tbody', attempts.map(row))));
}

// ---- events

const eventSize = (event) => [event.cpus > 0 && cpuCount(event.cpus), event.gpus > 0 && count(event.gpus, 'GPU')]
  .filter(Boolean).join(' and ');
const eventTry = (event) => (event.attempt > 1 ? `, attempt ${event.attempt}` : '');
const because = (event) => (event.why === 'hand' ? ' by a user' : event.why ? ` by ${visible(event.why)}` : '');
const forJob = (event) => (event.by ? ` to make room for job ${event.by}` : '');
const said = (text) => (text ? `: ${visible(text)}` : '');

// The words for each kind: [name, sentence].
const EVENT_WORDS = {
  'job.submitted': ['submitted', () => ''],
  'job.started': ['started', (e) => `on ${eventSize(e)}${eventTry(e)}`],
  'job.resized': ['resized', (e) => `to ${eventSize(e)}${because(e)}`],
  'job.restarted': ['restarted', (e) => `on ${eventSize(e)}; the pause was ${duration(e.cost_s)}`],
  'job.paused': ['paused', (e) => forJob(e).trim()],
  'job.resumed': ['resumed', (e) => `on ${eventSize(e)}`],
  'job.preempted': ['preempted', (e) => `stopped${forJob(e)}`],
  'job.retried': ['failed', (e) => `${visible(e.reason)}${said(e.error)}; starts again at ${clockTime(e.eligible)}`],
  'job.requeued': ['requeued', () => ''],
  'job.moving': ['moving', (e) => `from ${visible(e.from)} to ${visible(e.to)}${because(e)}`],
  'job.moved': ['moved', (e) => `to ${visible(e.node)} in ${duration(e.pause_s)}`],
  'job.fenced': ['given up', (e) => `${visible(e.node)} is lost, and its lease of ${duration(e.lease_s)} is over`],
  'job.held': ['held', () => ''],
  'job.released': ['released', () => ''],
  'job.changed': ['changed', (e) => (e.cpus_max ? `may use ${e.cpus_min === e.cpus_max ? '' : `${units(e.cpus_min)}–`}${cpuCount(e.cpus_max)}` : '')],
  'job.probe': ['probe', (e) => `on ${eventSize(e)} instead of ${units(e.from)}, for at most ${duration(e.at_most_s)}`],
  'job.probed': ['probed', (e) => (e.speed ? `${figure(e.speed)} times as fast on ${eventSize(e)} as on ${units(e.from)}` : 'nothing was measured')],
  'job.listed': ['listed', (e) => visible(e.why ?? e.list)],
  'job.diverged': ['diverged', (e) => `the loss is ${visible(e.loss)}${e.step === null ? '' : ` at step ${grouped(e.step)}`}`],
  'job.stalled': ['stalled', (e) => `no progress for ${duration(e.silent_s)}`],
  'job.at_risk': ['at risk', (e) => `due at ${clockTime(e.deadline)}${e.expected_end ? `, expected to end at ${clockTime(e.expected_end)}` : ''}`],
  'job.late': ['slow to follow', (e) => `it still runs ${count(e.threads, 'thread')} on ${eventSize(e)}`],
  'job.stopped': ['stopped', (e) => visible(e.reason)],
  'job.ended': ['ended', (e) => endText(e)],
};

function endText(event) {
  const reason = event.reason && event.reason !== event.state ? said(event.reason) : '';
  return `${event.state}${reason}${said(event.error)}`;
}

const EVENT_SILENT = ['seq', 'at', 'kind', 'job'];

// Of a kind that this page does not know: every member, times as times.
function otherEvent(event) {
  const value = (key, its) => {
    if (/^(deadline|eligible|expected_end)$/.test(key)) return clockTime(its);
    return typeof its === 'object' ? JSON.stringify(its) : visible(String(its));
  };
  const text = Object.entries(event)
    .filter(([key, its]) => !EVENT_SILENT.includes(key) && its !== null && its !== '')
    .map(([key, its]) => `${key} ${value(key, its)}`).join(', ');
  return [event.kind.replace(/^job\./, ''), text];
}

function eventWords(event) {
  const known = EVENT_WORDS[event.kind];
  return known ? [known[0], known[1](event)] : otherEvent(event);
}

function eventList(events) {
  if (!events.length) return html('p', { class: 'empty' }, 'Its events are no longer kept.');
  return html('ol', { class: 'events', tabindex: 0, 'aria-label': 'Events, newest first' }, [...events].reverse().slice(0, 200).map((event) => {
    const [name, text] = eventWords(event);
    return html('li', { 'data-key': event.seq }, timeElement(event.at), html('b', name), html('span', { class: 'dim' }, text));
  }));
}
