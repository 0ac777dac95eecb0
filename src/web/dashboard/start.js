// Which page is shown, and how everything begins. The last script of the page.
'use strict';

// [pattern of the address, page, name in the navigation]
const PAGES = [
  [/^\/$/, overviewPage, 'Overview', '#/'],
  [/^\/jobs$/, jobsPage, 'Jobs', '#/jobs'],
  [/^\/jobs\/([^/]+)$/, jobPage],
  [/^\/compare\/([\d,]+)$/, comparePage],
  [/^\/nodes$/, nodesPage, 'Nodes', '#/nodes'],
  [/^\/policy$/, policyPage, 'Policy', '#/policy'],
  [/^\/reports$/, reportsPage, 'Reports', '#/reports'],
  [/^\/submit$/, submitPage, 'Submit', '#/submit'],
  [/^\/api$/, referencePage, 'API', '#/api'],
];

let current = null;

function drawNavigation(path) {
  const here = (link) => (link === '#/' ? path === '/' : path.startsWith(link.slice(1)));
  const shown = ([, page, name]) => name && (page !== submitPage || !yard.loaded || yard.maySubmit());
  render(byId('nav'), PAGES.filter(shown).map(([, , name, link]) =>
    html('a', { href: link, 'aria-current': here(link) ? 'page' : null }, name)));
}

function missingPage(main) {
  main.append(html('h1', 'There is no such page'), html('p', html('a', { href: '#/' }, 'Overview')));
  return { title: 'Not found', update: () => {}, end: () => {} };
}

function showPage() {
  const [path, query] = (location.hash.slice(1) || '/').split('?');
  if (!path.startsWith('/')) return; // a link within the page
  const main = byId('main');
  current?.end();
  tip.hide();
  main.replaceChildren();
  const entry = PAGES.find(([pattern]) => pattern.test(path));
  const parts = entry ? entry[0].exec(path).slice(1).map(decodeURIComponent) : [];
  const body = html('div', { class: 'page' });
  main.append(body);
  current = (entry ? entry[1] : missingPage)(body, parts, new URLSearchParams(query));
  document.title = `${current.title} · Trainyard`;
  drawNavigation(path);
  scrollTo(0, 0);
}

// Who is logged in, and the way out.
function drawUser() {
  const { user, role } = yard.me;
  const leave = () => attempt('You are logged out.', async () => {
    await logOut();
    location.reload();
  });
  render(byId('user'), html('span', { class: 'who', title: `Role: ${role}` }, visible(user)),
    html('button', { type: 'button', onclick: leave }, 'Log out'));
}

// A link of `trainyard open` logs in once; its code does not stay in the address.
async function useLink() {
  const code = /^#login=(\w+)$/.exec(location.hash)?.[1];
  if (!code) return;
  history.replaceState(null, '', '#/');
  drawNavigation('/');
  await followLink(code).catch((problem) => note(problem.message, 'failed'));
}

async function begin() {
  try {
    await useLink();
    await yard.load();
  } catch (problem) {
    if (problem.status === 401) return; // the login is shown
    render(byId('main'), html('h1', 'The server does not answer'), html('p', visible(problem.message)));
    setTimeout(begin, RETRY_AFTER);
    return;
  }
  live.start();
  drawUser();
  addEventListener('hashchange', showPage);
  yard.watch((kind) => current?.update(kind));
  showPage();
  document.documentElement.dataset.ready = 'yes';
  requestAnimationFrame(() => performance.mark('ready'));
}

addEventListener('loginneeded', () => {
  current?.end();
  current = null;
  live.close();
  loginPage(() => location.reload());
});

byId('theme').value = theme.chosen;
byId('theme').addEventListener('change', (event) => theme.choose(event.target.value));
drawNavigation((location.hash.slice(1) || '/').split('?')[0]);
live.draw();
begin();
