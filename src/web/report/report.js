// Puts the page together: heading, cards, sections, and what they share: which
// policies are shown, which one is chosen, which job is picked.
'use strict';

function drawHead(report) {
  const jobs = report.policies[0].figures.jobs;
  byId('title').textContent = visible(baseName(report.trace));
  byId('subtitle').textContent = [
    count(jobs, 'job'),
    clusterInWords(report.cluster),
    count(report.policies.length, 'policy', 'policies'),
  ].join(' · ');
  for (const section of document.querySelectorAll('section[data-nav]:not([hidden])')) {
    byId('nav').append(html('a', { href: `#${section.id}` }, section.dataset.nav));
  }
}

function drawRamp(report, shades) {
  const key = (colour, text) => html('span', html('i', { style: `background:${colour}` }), text);
  const unit = (label) => (label === '1' ? report.unit : `${report.unit}s`);
  byId('gantt-ramp').append(
    ...shades.labels.map((label, k) =>
      key(`var(--u${shades.ramp(k)})`, k ? label : `${label} ${unit(label)}`),
    ),
    key('var(--wait)', 'waiting'),
  );
}

// Each chart with several policies has a legend; a click hides or shows one.
function drawLegends(report, redraw) {
  const boxes = document.querySelectorAll('[data-legend]');
  if (report.policies.length < 2) return;
  const draw = () =>
    boxes.forEach((box) =>
      box.replaceChildren(
        ...report.policies.map((p) =>
          html(
            'button',
            {
              type: 'button',
              'aria-pressed': String(p.shown),
              title: 'Show or hide',
              onclick: () => {
                p.shown = !p.shown;
                draw();
                redraw();
              },
            },
            swatch(p.index),
            html('span', { class: 'name' }, p.name),
          ),
        ),
      ),
    );
  draw();
}

// The selectors of the charts and of the table move together.
function drawPicks(report, onChoose) {
  const labels = [...document.querySelectorAll('[data-pick]')];
  if (report.policies.length < 2) return;
  const selects = labels.map((label) => {
    const select = html(
      'select',
      {
        onchange: (event) => {
          selects.forEach((s) => {
            s.value = event.target.value;
          });
          onChoose(Number(event.target.value));
        },
      },
      report.policies.map((p) => html('option', { value: p.index }, p.name)),
    );
    label.append('Policy', select);
    return select;
  });
}

function drawAllocation(report) {
  const gantt = new Gantt(report, byId('gantt'));
  drawRamp(report, gantt.shades);
  const pick = (job, framed) => {
    const there = gantt.pick(job, !framed);
    if (framed) gantt.frame(job);
    drawJob(report, job, there);
  };
  const table = new JobTable(report, (job) => {
    pick(job, true);
    byId('allocation').scrollIntoView({ block: 'start' });
    byId('gantt').focus({ preventScroll: true });
  });
  listenGantt(gantt, (job) => pick(job, false));
  const choose = (index) => {
    const policy = report.policies[index];
    gantt.setPolicy(policy);
    table.setPolicy(policy);
    drawNodes(report, policy);
    if (gantt.picked >= 0) pick(gantt.picked, false);
  };
  drawPicks(report, choose);
  choose(0);
}

function wireTheme() {
  const buttons = document.querySelectorAll('button[data-theme]');
  const mark = () =>
    buttons.forEach((b) => b.setAttribute('aria-pressed', b.dataset.theme === theme.chosen));
  buttons.forEach((b) =>
    b.addEventListener('click', () => {
      theme.choose(b.dataset.theme);
      mark();
    }),
  );
  mark();
}

function main() {
  wireTheme();
  const report = readReport(JSON.parse(byId('data').textContent));
  const shown = () => report.policies.filter((p) => p.shown);
  drawCards(report);
  drawPolicies(report);
  drawWarnings(report);
  const charts = [drawCdf(report, shown), drawQueue(report, shown)].filter(Boolean);
  drawLegends(report, () => charts.forEach((chart) => chart.draw()));
  drawUsed(report);
  drawDeadlines(report);
  drawHead(report);
  drawAllocation(report);
  fillWords(report);
  document.documentElement.dataset.ready = 'yes';
}

try {
  main();
} catch (failure) {
  byId('failure').textContent = `This report could not be drawn: ${failure.message}`;
  byId('failure').hidden = false;
  throw failure;
}
