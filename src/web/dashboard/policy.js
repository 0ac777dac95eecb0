// The policy: what is active, what else there is, and its last decisions.
'use strict';

const AXES = [['allocate', 'decides how much each job gets'], ['place', 'decides where'], ['share', 'divides the CPUs of a node']];

function parameterText(value) {
  return Array.isArray(value) ? value.map(figure).join(', ') : typeof value === 'number' ? figure(value) : visible(String(value));
}

function activePolicy(policy, known) {
  return [
    html('p', { class: 'lead' }, html('span', { class: 'name' }, visible(policy.policy))),
    html('div', { class: 'cards' }, AXES.map(([axis, what]) => {
      const one = known.find(({ name, axis: its }) => name === policy[axis] && its === axis);
      const values = Object.entries(policy.parameters[axis]);
      return html('div', { class: 'card', 'data-key': axis },
        html('div', { class: 'what' }, what),
        html('div', { class: 'value small' }, policy[axis]),
        html('div', { class: 'than' }, one?.summary ?? ''),
        values.length > 0 && html('ul', { class: 'parameters' }, values.map(([name, value]) =>
          html('li', html('span', name), html('b', parameterText(value))))));
    })),
  ];
}

// An entry of the list, which unfolds to the rule and the parameters.
function knownPolicy(one, active) {
  return html('details', { class: 'policy', 'data-key': `${one.axis}-${one.name}` },
    html('summary', html('span', { class: 'name' }, one.name), active && html('span', { class: 'state running' }, 'active'),
      html('span', { class: 'dim' }, one.summary)),
    one.rule && html('p', visible(one.rule)),
    one.same_as && html('p', 'The same as ', html('span', { class: 'name' }, one.same_as), '.'),
    one.parameters.length > 0 && html('ul', { class: 'plain' }, one.parameters.map((p) =>
      html('li', html('span', { class: 'name' }, p.range), html('span', { class: 'dim' }, ` ${p.help}`)))),
    one.source && html('p', { class: 'dim' }, visible(one.source)),
    (one.axis === 'allocate' || one.axis === 'preset') && !active && yard.mayAdminister() &&
      html('button', { type: 'button', 'data-policy': one.name }, 'Activate …'));
}

function decisionList(decisions) {
  if (!decisions.length) return html('p', { class: 'empty' }, 'No decision has been made yet.');
  return html('ol', { class: 'events', tabindex: 0, 'aria-label': 'Decisions, newest first' }, decisions.map(({ n, at, plan }) =>
    html('li', { 'data-key': `${n}-${at}` }, timeElement(at), html('b', `no. ${n}`),
      html('span', { class: 'dim' }, decisionText(plan)))));
}

function decisionText(plan) {
  const done = (plan.effects || []).map((effect) => effect.kind ?? effect.what ?? '').filter(Boolean);
  const counts = [...new Set(done)].map((kind) => `${done.filter((k) => k === kind).length} ${kind}`);
  const grants = (plan.grants || []).length;
  return `${count(grants, 'job')} considered${counts.length ? `: ${counts.join(', ')}` : ', nothing changed'}`;
}

function askPolicy(value) {
  ask({
    title: 'Activate another policy?',
    text: 'It applies at once, also to running jobs: some may be resized, stopped or started.',
    fields: [{ name: 'policy', label: 'Policy', value, help: 'A name, with parameters as in las:thresholds=60, or allocate=A,place=P,share=S' }],
    verb: 'Activate',
    danger: true,
    act: async ({ policy }) => {
      yard.policy = await request('PUT', '/policy', { policy });
      note(`The policy is now ${yard.policy.policy}.`);
      yard.tell('all');
    },
  });
}

function policyPage(main) {
  const now = html('div');
  const list = html('div', { class: 'policies' });
  const last = html('div');
  let known = [];
  list.addEventListener('click', (event) => {
    const name = event.target.closest('[data-policy]')?.dataset.policy;
    if (name) askPolicy(name);
  });
  const groups = [...AXES, ['preset', 'names a combination of the three']];
  const draw = () => {
    render(now, activePolicy(yard.policy, known));
    render(list, groups.map(([axis, what]) => html('div', { 'data-key': axis },
      html('h3', axis === 'preset' ? 'Presets' : `${axis[0].toUpperCase()}${axis.slice(1)}`, html('span', { class: 'dim' }, ` ${what}`)),
      known.filter((one) => one.axis === axis).map((one) =>
        knownPolicy(one, one.axis === 'preset' ? yard.policy.policy === one.name : yard.policy[axis] === one.name)))));
  };
  const load = async () => {
    const [policies, decisions] = await Promise.all([get('/policies'), get('/decisions?limit=50')]);
    known = policies.policies;
    render(last, decisionList(decisions.decisions));
    draw();
  };
  main.append(
    html('div', { class: 'heading page-head' }, html('h1', 'Policy'),
      yard.mayAdminister() &&
        html('button', { type: 'button', onclick: () => askPolicy(yard.policy.policy) }, 'Change parameters …')),
    now, whatIf(main), html('section', html('h2', 'All policies'), list), html('section', html('h2', 'Last decisions'), last));
  draw();
  load().catch((problem) => note(problem.message, 'failed'));
  return { title: 'Policy', update: (kind) => kind === 'all' && draw(), end: () => {} };
}
