// The page of one job: its curves with the sizes under them on one time axis, what it
// uses, why it waits, its attempts and events, and its log.
'use strict';

// ---- parts of the page

const fact = (name, ...value) => html('div', { 'data-key': name }, html('dt', name), html('dd', value));

function expectedEnd(job) {
  const p = job.progress;
  if (!isActive(job) || !p?.expected_end) return null;
  return [
    timeElement(p.expected_end),
    p.expected_end_low && html('span', { class: 'dim' },
      ` (between ${clockTime(p.expected_end_low)} and ${clockTime(p.expected_end_high)})`),
  ];
}

// What it uses now; how many processes there are is not always known.
function usageText(u) {
  const parts = [u.cpus === null ? null : `${figure(Math.round(u.cpus * 100) / 100)} CPUs`, memory(u.memory_mb),
    u.processes > 0 ? count(u.processes, 'process', 'processes') : null];
  return parts.filter(Boolean).join(', ');
}

// What else it has reported, such as an accuracy.
function otherMetrics(progress) {
  const others = Object.entries(progress.metrics || {}).filter(([name]) => name !== (progress.metric || 'loss')).slice(0, 4);
  if (!others.length) return '';
  return html('span', { class: 'dim' }, ` · ${others.map(([name, value]) => `${visible(name)} ${figure(value)}`).join(', ')}`);
}

function jobFacts(job) {
  const p = job.progress;
  const u = job.usage;
  return html(
    'dl',
    { class: 'facts' },
    fact('Size', sizeText(job), job.threads ? html('span', { class: 'dim' }, ` · ${count(job.threads, 'thread')}`) : ''),
    job.node && fact('Node', visible(job.node), job.cpuset ? html('span', { class: 'dim' }, ` · CPUs ${job.cpuset}`) : ''),
    p && fact('Progress', p.total ? `step ${grouped(p.step)} of ${grouped(p.total)}` : p.step !== null ? `step ${grouped(p.step)}` : '–',
      p.epoch !== null && p.epoch !== undefined && html('span', { class: 'dim' }, ` · epoch ${figure(p.epoch)}${p.epochs ? ` of ${p.epochs}` : ''}`)),
    p && metricOf(job) !== null && fact(visible(p.metric || 'loss'), figure(metricOf(job)), otherMetrics(p)),
    p?.rate > 0 && fact('Rate', `${figure(p.rate)} steps/s`),
    expectedEnd(job) && fact('Expected end', expectedEnd(job)),
    job.deadline !== null && fact('Deadline', timeElement(job.deadline),
      deadlineRisk(job) ? [' ', html('span', { class: 'state late' }, deadlineRisk(job))] : ''),
    u && fact('In use', usageText(u)),
    fact('Waited', duration(job.wait_s)),
    fact('Ran', duration(job.run_s), job.time_limit_s ? html('span', { class: 'dim' }, ` of at most ${duration(job.time_limit_s)}`) : ''),
    fact('Submitted', timeElement(job.submitted), html('span', { class: 'dim' }, ` by ${visible(job.user)}`)),
    job.ended && fact('Ended', timeElement(job.ended), job.code !== null ? html('span', { class: 'dim' }, ` · exit code ${job.code}`) : ''),
    job.priority !== 0 && fact('Priority', String(job.priority)),
  );
}

function jobHead(job) {
  const done = progressOf(job);
  return [
    html('p', { class: 'eyebrow' }, html('a', { href: '#/jobs' }, 'Jobs'), ` / ${job.id}`,
      job.array ? ` · index ${job.array.index} of array ${job.array.job}` : '',
      parameterList(job) ? ` · ${parameterList(job)}` : ''),
    html('div', { class: 'heading' },
      html('h1', { class: 'job-title' }, visible(job.name), ' ', statePill(job)),
      actionButtons(job)),
    html('p', { class: 'command name' }, visible(job.command.map(shellWord).join(' '))),
    stateReason(job) && html('p', { class: isActive(job) ? 'reason' : 'reason ended' }, stateReason(job)),
    done !== null && isActive(job) && html('progress', { class: 'whole', max: 1, value: done, 'aria-label': 'Progress' }),
  ];
}

// Words between backticks are commands.
const commandText = (text) =>
  visible(text).split('`').map((part, i) => (i % 2 ? html('code', part) : part)).filter((part) => part !== '');

function explanationPart(why, standing) {
  if (!why) return html('p', { class: 'dim' }, '…');
  const texts = [...new Set([...why.reasons.map(({ text }) => text), ...standing])];
  // The log is on this page.
  const helps = why.frees.filter((text) => !text.startsWith('`trainyard logs '));
  return [
    html('p', { class: 'lead' }, visible(why.summary)),
    texts.length > 0 && html('ul', { class: 'plain' }, texts.map((text) => html('li', commandText(text)))),
    helps.length > 0 && [html('h3', 'What would help'), html('ul', { class: 'plain' }, helps.map((text) => html('li', commandText(text))))],
    why.ahead.length > 0 && [
      html('h3', 'Ahead of it'),
      html('ul', { class: 'rows' }, why.ahead.slice(0, 10).map((job) =>
        html('li', { 'data-key': job.id }, statePill({ ...job, paused: false }), jobLink(job),
          html('span', { class: 'dim' }, cpuCount(job.cpus)),
          job.remaining_s !== null && html('span', { class: 'why' }, `${duration(job.remaining_s)} left`)))),
    ],
    why.start?.expected && html('p', { class: 'dim' }, 'Expected start: ', timeElement(why.start.expected), `, ${visible(why.start.basis)}.`),
  ];
}

// ---- the page

async function readJob(id) {
  const [job, { samples, growth }, { events }, why] = await Promise.all([
    get(`/jobs/${id}`),
    get(`/jobs/${id}/progress`),
    get(`/events?job=${id}&limit=1000`),
    get(`/jobs/${id}/explain`),
  ]);
  return { job, samples, growth, events, why };
}

function jobPage(main, [key]) {
  const head = html('div', { class: 'page-head' });
  const facts = html('div');
  const graphs = html('div');
  const why = html('div');
  const attempts = html('div');
  const events = html('div');
  const spec = html('pre', { class: 'spec', tabindex: 0 });
  const curves = makeCurves(graphs);
  let data = null;
  let log = null;
  let busy = false;
  let again = false;
  let ended = false;

  head.addEventListener('click', (event) => {
    const name = event.target.closest('[data-action]')?.dataset.action;
    if (name) JOB_ACTIONS[name].start(data.job);
  });
  const drawHead = () => {
    render(head, jobHead(data.job));
    render(facts, jobFacts(data.job));
  };
  const draw = () => {
    document.title = `${visible(data.job.name)} · Trainyard`;
    drawHead();
    curves.draw(data.job, data.samples, data.growth);
    render(why, explanationPart(data.why, data.job.standing));
    render(attempts, attemptTable(data.job.attempts));
    render(events, eventList(data.events));
    spec.textContent = JSON.stringify(data.job.spec, null, 2);
    log.setAttempts(data.job.attempts);
  };
  const build = () => {
    log = makeLog(data.job.id);
    const section = (title, ...content) => html('section', html('h2', title), content);
    main.replaceChildren(
      head,
      html('section', { class: 'first' }, facts),
      section('Curves', graphs),
      section(isActive(data.job) ? 'Why' : 'How it went', why),
      section('Log', log.box),
      section('Attempts', attempts),
      section('Events', events),
      html('section', html('details', html('summary', 'The request'), spec)),
    );
  };
  const load = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      data = await readJob(key);
      if (ended) return;
      yard.keep([data.job]);
      if (!log) {
        build();
        draw();
        log.read();
      } else {
        draw();
      }
    } catch (problem) {
      if (!log && !ended) {
        render(main, html('h1', problem.status === 404 ? 'No such job' : 'The job cannot be shown'),
          html('p', visible(problem.message)), html('p', html('a', { href: '#/jobs' }, 'All jobs')));
      }
    }
    busy = false;
    if (again && !ended) {
      again = false;
      load();
    }
  };
  const takeProgress = (event) => {
    const { job } = data;
    job.progress = yard.jobs.get(job.id)?.progress ?? job.progress;
    data.samples.push({ attempt: job.attempt, at: event.at, step: event.step ?? null,
      metric: event.value ?? event.loss ?? null, metrics: event.metrics, cpus: job.cpus, gpus: null, cpu_s: null, memory_mb: null });
    dirty = true;
  };
  let dirty = false;
  const stop = live.watch((event) => {
    if (!data || event.job !== data.job.id) return;
    if (event.kind === 'job.progress') takeProgress(event);
    else load();
  });
  const second = setInterval(() => {
    if (!dirty || !log) return;
    dirty = false;
    drawHead();
    curves.draw(data.job, data.samples, data.growth);
  }, 1000);
  // Usage and the expected end move without an event.
  const slow = setInterval(() => data && isActive(data.job) && !document.hidden && load(), 10_000);
  addEventListener('reconnected', load);
  render(main, html('p', { class: 'dim' }, 'Loading …'));
  load();
  return {
    title: `Job ${key}`,
    update: () => {},
    end() {
      ended = true;
      stop();
      clearInterval(second);
      clearInterval(slow);
      removeEventListener('reconnected', load);
      curves.end();
      log?.end();
    },
  };
}
