// What other policies would do with the current jobs: a question to the server, and its
// answer as a table.
'use strict';

// Asked about at first, as far as the server has them.
const ASKED = ['fifo', 'elastic-fifo', 'srtf', 'elastic-srjf', 'las', 'deadline'];
const WHATIF_HEADS = ['Policy', 'Mean time', 'All done in', 'Deadlines missed', 'Preemptions', 'Moves', 'Resizes', 'Better in', 'Who gains and loses'];

// Nothing if the whole band reads the same.
const bandText = (band, show) =>
  (!band || band.low === null || band.high === null || show(band.low) === show(band.high) ? '' : `${show(band.low)} – ${show(band.high)}`);

function withBand(value, band, show) {
  if (value === null) return '–';
  const range = bandText(band, show);
  return [html('span', show(value)), range && html('small', { class: 'band' }, range)];
}

function jobNames(list, word) {
  if (!list.length) return null;
  const shown = list.slice(0, 3).map(({ id, name }) => html('a', { href: `#/jobs/${id}` }, visible(name)));
  return html('span', { class: 'gain' }, `${word} `, shown.flatMap((link, i) => (i ? [', ', link] : [link])),
    list.length > 3 && ` and ${list.length - 3} more`);
}

function whatIfRow(one, active) {
  if (one.error) {
    return html('tr', { 'data-key': one.policy }, html('td', { class: 'text' }, html('span', { class: 'name' }, visible(one.policy))),
      html('td', { class: 'text failure', colspan: WHATIF_HEADS.length - 1 }, visible(one.error)));
  }
  return html('tr', { 'data-key': one.policy },
    html('td', { class: 'text' }, html('span', { class: 'name' }, visible(one.policy)),
      one.policy === active ? html('span', { class: 'state running' }, 'active')
        : yard.mayAdminister() && html('button', { type: 'button', class: 'quiet', 'data-policy': one.policy }, 'Activate …')),
    html('td', withBand(one.mean_s, one.mean_band_s, duration)),
    html('td', withBand(one.makespan_s, one.makespan_band_s, duration)),
    html('td', withBand(one.missed, one.missed_band, figure)),
    html('td', grouped(one.preemptions)), html('td', grouped(one.moves)), html('td', grouped(one.resizes)),
    html('td', one.policy === active ? '–' : `${Math.round((one.better ?? 0) * 100)} % of draws`),
    html('td', { class: 'text wrap-text' }, jobNames(one.winners, 'gain:'), jobNames(one.losers, 'lose:')));
}

function whatIfTable(answer) {
  if (!answer.jobs) return html('p', { class: 'empty' }, 'No job runs or waits whose end can be computed, so all policies would do the same.');
  const left = answer.left_out ? ` ${count(answer.left_out, 'job')} held or waiting for others left out.` : '';
  const unknown = answer.unknown ? ` ${count(answer.unknown, 'job')} without an estimate of their length.` : '';
  return [
    html('p', { class: 'note' }, `${count(answer.jobs, 'job')}, each policy tried ${count(answer.draws, 'time')} with ends drawn from their bands, in ${duration(answer.took_s)}.${left}${unknown}`),
    html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'What other policies would do' },
      html('table', html('thead', html('tr', WHATIF_HEADS.map((title, i) =>
        html('th', { scope: 'col', class: i === 0 || i === WHATIF_HEADS.length - 1 ? 'text' : '' }, title)))),
      html('tbody', answer.policies.map((one) => whatIfRow(one, answer.policies[0].policy))))),
  ];
}

// The section of the policy page.
function whatIf(main) {
  const input = html('input', { type: 'text', value: ASKED.join(', '), autocomplete: 'off', spellcheck: 'false' });
  const failure = html('p', { class: 'failure', role: 'alert' });
  const out = html('div', { 'aria-live': 'polite' });
  const send = html('button', { type: 'submit', class: 'primary' }, 'Compare');
  const form = html('form', { class: 'ask-line' },
    html('label', { class: 'field' }, 'Policies', input, html('small', 'separated by commas; parameters as in las:thresholds=60')), send);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    failure.textContent = '';
    try {
      const policies = input.value.split(/,(?![^:]*=)/).map((name) => name.trim()).filter(Boolean);
      render(out, whatIfTable(await post('/whatif', { policies })));
    } catch (problem) {
      failure.textContent = problem.message;
    }
    send.disabled = false;
  });
  out.addEventListener('click', (event) => {
    const name = event.target.closest('[data-policy]')?.dataset.policy;
    if (name) askPolicy(name);
  });
  return html('section', html('h2', 'What if'),
    html('p', { class: 'note' }, 'What other policies would do with the jobs that run and wait now. Nothing is changed.'), form, failure, out);
}
