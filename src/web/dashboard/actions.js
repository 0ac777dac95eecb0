// What can be done to a job and a node, each with a question first where it cannot be
// undone.
'use strict';

const jobPath = (job, action = '') => `/jobs/${job.id}${action ? `/${action}` : ''}`;
const sayJob = (job) => `Job ${job.id} (${visible(job.name)})`;

const JOB_ACTIONS = {
  cancel: {
    title: 'Cancel',
    allowed: isActive,
    danger: true,
    start: (job) => ask({
      title: `Cancel ${visible(job.name)}?`,
      text: isRunning(job)
        ? 'It gets SIGTERM, and SIGKILL when its grace period is over. What it has not saved is lost.'
        : 'It has not started.',
      fields: isRunning(job) ? [{ name: 'grace', label: 'Grace period', placeholder: 'its own', help: 'such as 10s' }] : [],
      verb: 'Cancel the job',
      back: 'Keep the job',
      danger: true,
      act: async ({ grace }) => {
        await post(jobPath(job, 'cancel'), grace ? { grace } : {});
        note(`${sayJob(job)} is being cancelled.`);
      },
    }),
  },
  hold: {
    title: 'Hold',
    allowed: (job) => job.state === 'queued',
    start: (job) => attempt(`${sayJob(job)} is held.`, () => post(jobPath(job, 'hold'))),
  },
  release: {
    title: 'Release',
    allowed: (job) => job.state === 'held',
    start: (job) => attempt(`${sayJob(job)} may start.`, () => post(jobPath(job, 'release'))),
  },
  requeue: {
    title: 'Requeue',
    allowed: (job) => isRunning(job) || !isActive(job),
    start: (job) => ask({
      title: `Requeue ${visible(job.name)}?`,
      text: isRunning(job)
        ? 'It is stopped, and starts again as a new attempt, from its checkpoint if it has one.'
        : 'It starts again as a new attempt.',
      verb: 'Requeue it',
      act: async () => {
        await post(jobPath(job, 'requeue'));
        note(`${sayJob(job)} is queued again.`);
      },
    }),
  },
  resize: {
    title: 'Resize',
    allowed: (job) => isActive(job) && job.gpus_max === 0,
    start: (job) => ask({
      title: `CPUs of ${visible(job.name)}`,
      text: `It holds ${units(job.cpus)} and may hold ${units(job.cpus_min)}–${units(job.cpus_max)}.`,
      fields: [{ name: 'cpus', label: 'CPUs', value: units(job.cpus || job.cpus_min),
        help: 'A number fixes the size; in a range such as 1-2 the policy chooses; empty restores what was submitted.' }],
      verb: 'Resize',
      act: async ({ cpus }) => {
        await post(jobPath(job, 'resize'), { cpus: cpus.trim() || null });
        note(`${sayJob(job)} may ${cpus.trim() ? `now use ${cpus.trim()} CPUs` : 'use as many CPUs as it was submitted with'}.`);
      },
    }),
  },
  priority: {
    title: 'Priority',
    allowed: isActive,
    start: (job) => ask({
      title: `Priority of ${visible(job.name)}`,
      fields: [{ name: 'priority', label: 'Priority', value: job.priority, help: 'Jobs with a higher priority go first.' }],
      verb: 'Set',
      act: ({ priority }) => change(job, { priority }, () => `now has priority ${priority}`),
    }),
  },
  deadline: {
    title: 'Deadline',
    allowed: isActive,
    start: (job) => ask({
      title: `Deadline of ${visible(job.name)}`,
      text: deadlineNow(job),
      fields: [
        { name: 'deadline', label: 'From now', placeholder: 'none', help: 'such as 2h or 90m' },
        { name: 'deadline_at', label: 'Or at', type: 'datetime-local', help: 'in your time zone; leave both empty for no deadline' },
      ],
      verb: 'Set',
      act: ({ deadline, deadline_at: at }) => {
        const span = deadline.trim();
        if (span && at) throw new Problem(400, { detail: 'Give either a time from now or a time of day, not both.' });
        const body = at ? { deadline_at: new Date(at).getTime() / 1000 } : { deadline: span || null };
        return change(job, body, (its) => (its.deadline ? `is now due at ${clockTime(its.deadline)}` : 'has no deadline any more'));
      },
    }),
  },
  move: {
    title: 'Move',
    allowed: (job) => job.state === 'running' && yard.nodes.length > 1,
    start: (job) => ask({
      title: `Move ${visible(job.name)}`,
      text: `It runs on ${visible(job.node ?? 'no node')}. It saves a checkpoint, stops, and continues on the other node as its next attempt.`,
      fields: [{ name: 'node', label: 'To', options: [['', 'any other node that has room'],
        ...yard.nodes.filter(({ name }) => name !== job.node).map(({ name }) => [name, visible(name)])] }],
      verb: 'Move it',
      act: async ({ node }) => {
        await post(jobPath(job, 'migrate'), node ? { node } : {});
        note(`${sayJob(job)} is being moved${node ? ` to ${visible(node)}` : ''}.`);
      },
    }),
  },
};

// The deadline, and whether the job should meet it.
function deadlineNow(job) {
  const end = job.progress?.expected_end;
  const expected = end ? ` It is expected to end at ${clockTime(end)}.` : '';
  return (job.deadline ? `It is due ${fullTime(job.deadline)}.` : 'It has none.') + expected;
}

// words(job) says how it is now.
async function change(job, body, words) {
  const changed = await request('PATCH', jobPath(job), body);
  note(`${sayJob(job)} ${words(changed)}.`);
}

// Buttons for what this job allows. One listener for all: buttons are drawn again.
function actionButtons(job) {
  return html('div', { class: 'actions' },
    Object.entries(JOB_ACTIONS).filter(([, action]) => yard.mayChange(job) && action.allowed(job)).map(([name, action]) =>
      html('button', { type: 'button', 'data-action': name, 'data-key': name, class: action.danger ? 'danger' : '' }, action.title)));
}

function drainNode(node) {
  const drain = node.state !== 'draining';
  const name = encodeURIComponent(node.name);
  if (!drain) {
    attempt(`${visible(node.name)} is used again.`, () => post(`/nodes/${name}/undrain`));
    return;
  }
  ask({
    title: `Drain ${visible(node.name)}?`,
    text: 'Nothing new starts there. What runs there goes on until it ends.',
    verb: 'Drain it',
    act: async () => {
      await post(`/nodes/${name}/drain`);
      note(`${visible(node.name)} is drained.`);
    },
  });
}
