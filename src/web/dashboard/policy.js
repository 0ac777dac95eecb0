// The policy: what is active, what else there is, and its last decisions.
'use strict';

// [axis, heading, what it decides]
const AXES = [['allocate', 'Allocation', 'how much each job gets'], ['place', 'Placement', 'where each job runs'],
  ['share', 'Sharing', 'how jobs of one node share its CPUs']];

// A value with the unit that the list of policies names: durations arrive in seconds.
function parameterText(value, about = '') {
  if (Array.isArray(value)) return value.map(figure).join(', ');
  if (typeof value !== 'number') return visible(String(value));
  if (about.includes('(duration')) return duration(value);
  return about.includes('(percentage') ? `${figure(value)} %` : figure(value);
}

// auto is active through the allocator that it has chosen.
const isAuto = (policy) => policy.chosen !== null;

function activePolicy(policy, known) {
  return [
    html('p', { class: 'lead' }, html('span', { class: 'name' }, visible(policy.policy))),
    isAuto(policy) && html('p', { class: 'note chosen' }, visible(policy.chosen)),
    html('div', { class: 'cards' }, AXES.map(([axis, title, what]) => {
      const one = known.find(({ name, axis: its }) => name === policy[axis] && its === axis);
      const values = Object.entries(policy.parameters[axis]);
      return html('div', { class: 'card', 'data-key': axis },
        html('div', { class: 'what' }, html('b', title), `: ${what}`),
        html('div', { class: 'value small' }, policy[axis], axis === 'allocate' && isAuto(policy) && html('span', { class: 'than' }, ' chosen by auto')),
        html('div', { class: 'than' }, one?.summary ?? ''),
        values.length > 0 && html('ul', { class: 'parameters' }, values.map(([name, value]) =>
          html('li', html('span', name), html('b', parameterText(value, one?.parameters.find((p) => p.name === name)?.range))))));
    })),
  ];
}

// An entry of the list, which unfolds to the rule and the parameters.
function knownPolicy(one, mark) {
  return html('details', { class: 'policy', 'data-key': `${one.axis}-${one.name}` },
    html('summary', html('span', { class: 'name' }, one.name), mark && html('span', { class: 'state running' }, mark),
      html('span', { class: 'dim' }, one.summary)),
    one.rule && html('p', visible(one.rule)),
    one.same_as && html('p', 'The same as ', html('span', { class: 'name' }, one.same_as), '.'),
    one.parameters.length > 0 && html('ul', { class: 'plain' }, one.parameters.map((p) =>
      html('li', html('span', { class: 'name' }, p.range), html('span', { class: 'dim' }, ` ${p.help}`)))),
    one.source && html('p', { class: 'dim' }, visible(one.source)),
    mark !== 'active' && yard.mayAdminister() &&
      html('button', { type: 'button', 'data-policy': one.name, 'data-axis': one.axis }, 'Activate …'));
}

// "active", "chosen by auto" or nothing.
function policyMark(one, policy) {
  if (one.axis === 'preset') return policy.policy === one.name ? 'active' : '';
  if (one.axis !== 'allocate' || !isAuto(policy)) return policy[one.axis] === one.name ? 'active' : '';
  if (one.name === 'auto') return 'active';
  return policy.allocate === one.name ? 'chosen by auto' : '';
}

// The text of the active policy with another placer or sharer.
function withPart(axis, name, known) {
  const text = yard.policy.policy;
  const preset = known.find((one) => one.axis === 'preset' && one.name === text);
  const parts = new Map();
  for (const part of (preset?.same_as ?? text).split(/,(?=(?:allocate|place|share)=)/)) {
    const named = /^(allocate|place|share)=(.*)$/.exec(part);
    parts.set(named ? named[1] : 'allocate', named ? named[2] : part);
  }
  parts.set(axis, name);
  return AXES.map(([one]) => (parts.has(one) ? `${one}=${parts.get(one)}` : '')).filter(Boolean).join(',');
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

// The lists unfold: on a phone all of them are too long.
function policyGroups(known) {
  const groups = [...AXES, ['preset', 'Presets', 'names for combinations of the three']];
  return groups.map(([axis, title, what]) => html('details', { 'data-key': axis, class: 'group', open: innerWidth > 720 },
    html('summary', html('h3', title), html('span', { class: 'dim' }, ` ${what}`)),
    known.filter((one) => one.axis === axis).map((one) => knownPolicy(one, policyMark(one, yard.policy)))));
}

function policyPage(main) {
  const now = html('div');
  const list = html('div', { class: 'policies' });
  const last = html('div');
  let known = [];
  let decided = false; // something has changed since decisions were read
  list.addEventListener('click', (event) => {
    const { policy, axis } = event.target.closest('[data-policy]')?.dataset ?? {};
    if (policy) askPolicy(axis === 'place' || axis === 'share' ? withPart(axis, policy, known) : policy);
  });
  const draw = () => {
    render(now, activePolicy(yard.policy, known));
    const open = new Map([...list.querySelectorAll('details')].map((one) => [one.dataset.key, one.open]));
    const groups = policyGroups(known);
    for (const one of groups.flatMap((group) => [group, ...group.querySelectorAll('details')])) {
      if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
    }
    render(list, groups);
  };
  const readDecisions = async () => {
    decided = false;
    const { decisions } = await get('/decisions?limit=50');
    if (main.isConnected) render(last, decisionList(decisions));
  };
  const load = async () => {
    const [policies] = await Promise.all([get('/policies'), readDecisions()]);
    known = policies.policies;
    draw();
  };
  main.append(
    html('div', { class: 'heading page-head' }, html('h1', 'Policy'),
      yard.mayAdminister() &&
        html('button', { type: 'button', onclick: () => askPolicy(yard.policy.policy) }, 'Change parameters …')),
    now, whatIf(main), html('section', html('h2', 'All policies'), list), html('section', html('h2', 'Last decisions'), last));
  draw();
  load().catch((problem) => note(problem.message, 'failed'));
  const again = setInterval(() => decided && !document.hidden && readDecisions().catch(() => {}), 2000);
  return {
    title: 'Policy',
    update(kind) {
      if (kind !== 'all') return;
      decided = true;
      draw();
    },
    end: () => clearInterval(again),
  };
}
