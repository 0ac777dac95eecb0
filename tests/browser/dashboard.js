// Every page and every action of the dashboard.
'use strict';

const { check, expect, same, finish } = require('./checks.js');
const { Yard, PROGRAM, TOKEN, TRAINER, until, openBrowser, openPage, visit } = require('./yard.js');

const HOSTILE = `<img src=x onerror=alert(1)> "'&\u202e<script>alert(2)</script>`;
const counts = 'for i in $(seq 4000); do echo "step $i/4000 loss=0.$((9000 - i))"; sleep 0.1; done';
const shell = (text, more = {}) => ({ command: ['sh', '-c', text], cpus: 1, workdir: '/tmp', ...more });

// Presses the button of an action, fills the dialog, and agrees.
async function act(page, action, fields = {}) {
  await page.click(`[data-action="${action}"]`);
  const dialog = page.locator('dialog');
  await dialog.waitFor();
  for (const [name, value] of Object.entries(fields)) await dialog.locator(`[name="${name}"]`).fill(value);
  await dialog.locator('button[type=submit]').click();
  await dialog.waitFor({ state: 'detached' });
}

async function login(browser, yard) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(yard.url);
  const field = page.locator('input[type=password]');
  await field.fill('wrong');
  await page.click('button[type=submit]');
  await page.locator('.failure', { hasText: 'wrong' }).waitFor();
  await field.fill(TOKEN);
  await page.click('button[type=submit]');
  await page.locator('.card', { hasText: 'Running' }).waitFor();
  const [cookie] = await context.cookies();
  expect(!cookie.value.includes(TOKEN), 'the cookie is not the token');
  expect(cookie.httpOnly && cookie.sameSite === 'Strict', 'neither scripts nor other sites can use the cookie');
  await page.locator('.user', { hasText: 'api' }).locator('button', { hasText: 'Log out' }).click();
  await field.waitFor();
  await context.close();
}

// A link logs in once; then the page offers what the role allows.
async function roles(browser, yard) {
  const [job] = await yard.submit(shell('true', { name: 'of ann', hold: true, user: 'ann' }));
  const [other] = await yard.submit(shell('true', { name: 'of bob', hold: true, user: 'bob' }));
  for (const [role, own, others, admin] of [['viewer', 0, 0, 0], ['user', 1, 0, 0], ['admin', 1, 1, 1]]) {
    const { token } = await yard.ask('POST', '/tokens', { name: `ann-${role}`, role, user: 'ann' });
    const { path } = await yard.ask('POST', '/links', undefined, token);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${yard.url}${path}`);
    await page.waitForSelector('html[data-ready="yes"]');
    expect(!page.url().includes('login='), 'the code does not stay in the address');
    same(await page.locator('.user .who').textContent(), 'ann');
    same(await page.locator('nav a', { hasText: 'Submit' }).count(), own, `${role} submits`);
    for (const [id, want] of [[job, own], [other, others]]) {
      await visit(page, yard, `/jobs/${id}`);
      await page.locator('h1', { hasText: 'of ' }).waitFor();
      same(await page.locator('[data-action="release"]').count(), want, `${role} releases ${id}`);
    }
    await visit(page, yard, '/nodes');
    await page.locator('tbody tr').first().waitFor();
    same(await page.locator('button:has-text("Drain")').count(), admin, `${role} drains`);
    await context.clearCookies();
    await page.goto(`${yard.url}/?again${path.slice(1)}`);
    await page.locator('.note-line.failed', { hasText: 'was used' }).waitFor();
    await page.locator('form.login').waitFor();
    await context.close();
  }
  for (const id of [job, other]) await yard.ask('POST', `/jobs/${id}/cancel`);
}

// A part of a CPU is as wide as it is large, and no two jobs have the same colour.
async function scaledTiles(page, yard) {
  const jobs = (await yard.get('/jobs?state=running')).jobs;
  const node = (await yard.get('/nodes')).nodes[0];
  const drawn = await page.locator('.hold').first().evaluate((bar) => [...bar.querySelectorAll('a.part')].map((part) => ({
    id: Number(part.hash.split('/').pop()), share: part.offsetWidth / bar.offsetWidth,
    colour: getComputedStyle(part).backgroundColor + getComputedStyle(part).backgroundImage })));
  same(drawn.map(({ id }) => id).sort(), jobs.map(({ id }) => id).sort(), 'a part for each job');
  for (const { id, share } of drawn) {
    const { cpus } = jobs.find((job) => job.id === id);
    expect(Math.abs(share - cpus / node.cpus) < 0.02, `job ${id} has ${cpus} of ${node.cpus} CPUs and ${share} of the bar`);
  }
  same(new Set(drawn.map(({ colour }) => colour)).size, drawn.length, 'colours');
}

async function overview(page, yard) {
  await visit(page, yard, '/');
  await page.locator('.tile .hold').first().waitFor();
  const [id] = await yard.submit(shell('sleep 60', { name: 'appears', cpus: 0.1 }));
  await page.locator('.tile-jobs', { hasText: 'appears' }).waitFor();
  await scaledTiles(page, yard);
  await yard.ask('POST', `/jobs/${id}/cancel`, { grace: '0s' });
  await page.locator('.tile-jobs', { hasText: 'appears' }).waitFor({ state: 'detached' });
  const [late] = await yard.submit(shell('true', { name: 'late', hold: true, deadline: '1s' }));
  await until('its deadline is over', async () => Date.now() / 1000 > (await yard.job(late)).deadline);
  await yard.ask('PATCH', `/jobs/${late}`, { priority: 1 });
  const risk = page.locator('.pair section', { hasText: 'Deadlines' }).locator('.rows li', { hasText: 'late' });
  await risk.locator('.more', { hasText: /hold|release/ }).waitFor();
  await page.locator('.chart canvas').first().waitFor({ timeout: 60_000 });
  await yard.ask('POST', `/jobs/${late}/cancel`);
}

async function list(page, yard) {
  await yard.submit(shell('true', { name: 'wing', array: '0-9', hold: true }));
  await yard.submit(shell('echo {lr}', { name: 'swept', sweep: { lr: '0.1,0.01' }, hold: true }));
  await visit(page, yard, '/jobs');
  const names = () => page.locator('tbody .job-link, tbody .fold').allTextContents();
  await until('the array is folded', async () => (await names()).filter((n) => n.includes('wing')).length === 1);
  await page.locator('.fold', { hasText: '10 jobs: 10 held' }).click();
  await until('the array is open', async () => (await names()).filter((n) => n.includes('wing')).length === 11);
  await page.locator('td.col-name', { hasText: 'wing [7]' }).waitFor();
  await page.locator('.fold', { hasText: 'wing' }).click();
  await page.locator('.fold', { hasText: 'swept' }).click();
  await page.locator('td.col-name', { hasText: 'swept [1] lr=0.01' }).waitFor();
  await page.locator('.fold', { hasText: 'swept' }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('wing');
  await until('only these are found', async () => (await names()).length === 1);
  await page.fill('input[type=search]', 'no such job');
  await page.locator('.empty', { hasText: 'No job matches' }).waitFor();
  await page.fill('input[type=search]', '');
  await page.click('.chips [data-state="held"]');
  await until('only held jobs', async () => (await names()).every((n) => /wing|swept/.test(n)));
  await page.click('.chips [data-state="held"]');
  await page.click('th button:has-text("Name")');
  same(await page.locator('th[aria-sort]').textContent(), 'Name');
  const shown = (await page.locator('tbody td.col-name').allTextContents()).map((n) => n.replace(/^▸ /, ''));
  same(shown, [...shown].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)), 'by name');
  await page.click('th button:has-text("Id")');
}

async function jobPage(page, yard, id) {
  await visit(page, yard, `/jobs/${id}`);
  await page.locator('h1', { hasText: 'curve' }).waitFor();
  await until('the curves are drawn', async () => (await page.locator('.chart canvas').count()) >= 4);
  const titles = await page.locator('section h3').allTextContents();
  expect(titles.some((t) => t.includes('loss')) && titles.some((t) => t.includes('CPUs held')), titles);
  const label = await page.locator('.chart').first().getAttribute('aria-label');
  expect(/loss over time.*at last, between/.test(label), label);
  const before = await page.locator('.facts', { hasText: 'Progress' }).textContent();
  await page.locator('.facts', { hasText: /CPUs, \d+ MB, \d+ process/ }).waitFor();
  expect(!/NaN|undefined|null/.test(await page.locator('.facts').textContent()), 'only words and numbers');
  await until('progress moves', async () => (await page.locator('.facts').textContent()) !== before);
  const why = page.locator('section', { hasText: 'Why' });
  await why.locator('.lead').first().waitFor();
  const bullets = await why.locator('ul.plain').first().locator('li').allTextContents();
  same(bullets, [...new Set(bullets)], 'each reason once');
  await page.locator('.events li', { hasText: /started.*on [\d.]+ CPUs?$/ }).waitFor();
  // Charts share an axis: a zoom of one is a zoom of all.
  const box = await page.locator('.chart').first().boundingBox();
  await page.mouse.move(box.x + 200, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
  await page.mouse.up();
  const axes = () => page.locator('.chart').evaluateAll((charts) =>
    charts.map((chart) => [...chart.querySelectorAll('.dygraph-axis-label-x')].map((one) => one.textContent).join()));
  await until('all charts show the same times', async () => new Set(await axes()).size === 1);
  const zoomed = (await axes())[0];
  await page.mouse.dblclick(box.x + 300, box.y + 60);
  await until('they show all again', async () => (await axes()).every((axis) => axis !== zoomed));
}

// A job that prints several numbers has a chart for each that is chosen.
async function metrics(page, yard) {
  const print = 'for i in $(seq 600); do echo "step $i/600 loss=0.$((900 - i)) acc=0.$((100 + i)) val_loss=0.$((950 - i))"; sleep 0.2; done';
  const [id] = await yard.submit(shell(print, { name: 'many numbers', cpus: 0.2 }));
  await until('they are kept', async () => {
    const { samples } = await yard.get(`/jobs/${id}/progress`);
    return samples.filter((sample) => sample.metrics?.acc > 0.1 && sample.metrics.val_loss > 0).length > 3;
  });
  same(Object.keys((await yard.job(id)).progress.metrics).sort(), ['acc', 'loss', 'val_loss']);
  await visit(page, yard, `/jobs/${id}`);
  const titles = () => page.locator('section h3').allTextContents();
  await until('each has a chart', async () => ['loss', 'acc', 'val_loss'].every(async (name) => (await titles()).includes(name)) &&
    (await page.locator('.curve-tools [data-metric]').count()) === 3);
  await page.click('[data-metric="acc"]');
  await until('one is taken away', async () => !(await titles()).includes('acc') && (await titles()).includes('val_loss'));
  await page.check('.curve-tools input[type=checkbox]');
  await page.locator('.chart canvas').first().waitFor();
  const size = (await yard.job(id)).sizes.at(-1);
  same([size.cpus, size.gpus], [0.2, 0]);
  await yard.ask('POST', `/jobs/${id}/cancel`, { grace: '0s' });
}

async function logs(page, yard, id) {
  await visit(page, yard, `/jobs/${id}`);
  await page.locator('.log .line').first().waitFor();
  const lines = () => page.locator('.log .line').count();
  const before = await lines();
  await until('the log goes on', async () => (await lines()) > before);
  const low = await page.locator('.log').evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop);
  expect(low < 40, `it follows the end, ${low} above it`);
  await page.fill('.log-box input[type=search]', 'step 1/400');
  await page.locator('.log mark', { hasText: 'step 1/400' }).first().waitFor();
  await page.locator('.log .current').waitFor();
  expect(!(await page.isChecked('.log-box input[type=checkbox]')), 'a search stops following');
  await page.fill('.log-box input[type=search]', '');
}

// Of a log that is too long for the page, the beginning is found, and all of it can be paged through.
async function longLog(page, yard) {
  const print = 'echo the needle at first; seq 1 60000; echo the last line; sleep 600';
  const [id] = await yard.submit(shell(print, { name: 'long', cpus: 0.1 }));
  await until('it has printed', async () => (await yard.job(id)).attempts[0]?.log_bytes > 340_000);
  await visit(page, yard, `/jobs/${id}`);
  await page.locator('.log .line', { hasText: 'the last line' }).waitFor();
  await page.locator('.log .earlier', { hasText: /Earlier lines: \d+/ }).waitFor();
  const top = () => page.locator('.log .line').first().textContent();
  const before = Number(await top());
  await page.click('.log .earlier');
  await until('an earlier part is there', async () => Number(await top()) < before);
  const shown = (await page.locator('.log .line').allTextContents()).slice(0, -1).map(Number);
  expect(shown.every((n, i) => i === 0 || n === shown[i - 1] + 1), 'no line is missing or twice');
  await page.fill('.log-box input[type=search]', 'NEEDLE');
  await page.locator('.log .current', { hasText: 'the needle at first' }).waitFor();
  await page.locator('.log-box', { hasText: '1 of 1 line' }).waitFor();
  await page.fill('.log-box input[type=search]', '');
  await page.click('.log .later');
  await until('the next part is there', async () => (await page.locator('.log .line').count()) > 20_000);
  await page.check('.log-box input[type=checkbox]');
  await page.locator('.log .line', { hasText: 'the last line' }).waitFor();
  await yard.ask('POST', `/jobs/${id}/cancel`, { grace: '0s' });
}

// A report of the simulator is uploaded, opened in its sandbox, and removed.
async function simReports(page, yard) {
  const file = require('node:path').join(yard.dir, 'four nodes.html');
  const { spawnSync } = require('node:child_process');
  const root = require('node:path').resolve(__dirname, '../..');
  const sim = spawnSync(PROGRAM, ['sim', 'data/demo.csv', '--nodes', '4x4', '--policy', 'fifo', '--policy', 'srtf', '--report', file], { cwd: root });
  same(sim.status, 0, String(sim.stderr));
  await visit(page, yard, '/reports');
  await page.locator('.empty', { hasText: 'No reports yet' }).waitFor();
  await page.setInputFiles('input[type=file]', file);
  const link = page.locator('td a', { hasText: 'four-nodes' });
  await link.waitFor();
  const [report] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
  const complaints = [];
  report.on('pageerror', (failure) => complaints.push(String(failure.stack)));
  await report.locator('svg').nth(2).waitFor();
  same(await report.evaluate(() => [self.origin, document.title.includes('simulation')]), ['null', true], 'a sandbox of its own');
  same(await report.evaluate(() => fetch('/api/v1/jobs').then(() => 'read', () => 'refused')), 'refused');
  same(complaints, []);
  await report.close();
  await page.click('[data-report="four-nodes"]');
  await page.click('dialog button[type=submit]');
  await link.waitFor({ state: 'detached' });
}

async function hostile(page, yard) {
  const print = 'printf \'\\033[1;31mred\\033[0m <b>not bold</b> \\033]0;title\\007\\033[2Jcleared \\r over <script>alert(3)</script>\\n\'';
  const [id] = await yard.submit(shell(print, { name: HOSTILE, comment: HOSTILE, env: { A: HOSTILE } }));
  await yard.reaches(id, 'done');
  for (const where of ['/', '/jobs', `/jobs/${id}`, `/compare/${id},${id}`, '/nodes', '/policy']) {
    await visit(page, yard, where);
    await page.waitForTimeout(300);
    same(await page.locator('main img, main script, main b:has-text("not bold")').count(), 0, where);
  }
  await visit(page, yard, `/jobs/${id}`);
  const title = await page.locator('h1').textContent();
  expect(title.includes('<img src=x onerror=alert(1)>') && title.includes('\\u202e'), title);
  const line = page.locator('.log .line').last();
  await line.waitFor();
  expect((await line.textContent()).includes('over <script>alert(3)</script>'), await line.textContent());
}

async function colours(page, yard) {
  const [id] = await yard.submit(shell("printf '\\033[1;31mbad\\033[0m fine\\n'", { name: 'colours' }));
  await yard.reaches(id, 'done');
  await visit(page, yard, `/jobs/${id}`);
  same(await page.locator('.log .a-red').textContent(), 'bad');
}

async function actions(page, yard) {
  const [id] = await yard.submit(shell(counts, { name: 'acted', cpus: '1-2', hold: true }));
  await visit(page, yard, `/jobs/${id}`);
  await page.click('[data-action="release"]');
  await yard.reaches(id, 'running');
  await act(page, 'priority', { priority: '7' });
  same((await yard.job(id)).priority, 7);
  await act(page, 'deadline', { deadline: '2h' });
  expect((await yard.job(id)).deadline > Date.now() / 1000 + 7000, 'deadline');
  await page.locator('.note-line', { hasText: 'is now due at' }).waitFor();
  await act(page, 'deadline', { deadline_at: '2040-02-03T04:05' });
  same((await yard.job(id)).deadline, new Date('2040-02-03T04:05').getTime() / 1000);
  await act(page, 'deadline');
  same((await yard.job(id)).deadline, null);
  await act(page, 'resize', { cpus: '1' });
  same((await yard.job(id)).cpus_max, 1);
  await page.click('[data-action="resize"]');
  await page.fill('dialog [name=cpus]', '99');
  await page.click('dialog button[type=submit]');
  await page.locator('dialog .failure:not([hidden])').waitFor();
  await page.keyboard.press('Escape');
  await act(page, 'requeue');
  await until('its second attempt runs', async () => (await yard.job(id)).attempt === 2);
  await yard.reaches(id, 'running');
  await page.locator('.state', { hasText: 'running' }).first().waitFor();
  await act(page, 'cancel', { grace: '0s' });
  await yard.reaches(id, 'cancelled');
  await page.locator('h1 .state', { hasText: 'cancelled' }).waitFor();
  const [blocker] = await yard.submit(shell('true', { hold: true, name: 'blocker' }));
  const [queued] = await yard.submit(shell('true', { after: `after:${blocker}`, name: 'to hold' }));
  await visit(page, yard, `/jobs/${queued}`);
  await page.click('[data-action="hold"]');
  await yard.reaches(queued, 'held');
  await yard.ask('POST', `/jobs/${queued}/cancel`);
  await yard.ask('POST', `/jobs/${blocker}/cancel`);
}

async function nodes(page, yard) {
  await visit(page, yard, '/nodes');
  await page.click('button:has-text("Drain")');
  await page.click('dialog button[type=submit]');
  await page.locator('.state', { hasText: 'draining' }).waitFor();
  await page.click('button:has-text("Use again")');
  await page.locator('.state', { hasText: 'up' }).waitFor();
  await page.locator('.chart canvas').first().waitFor({ timeout: 60_000 });
}

async function whatIf(page, yard) {
  const [id] = await yard.submit({ command: [TRAINER, '--steps', '1000000'], cpus: '1-2', name: 'asked about', workdir: '/tmp' });
  await yard.submit(shell('sleep 600', { name: 'in the queue', cpus: 2 }));
  await until('it reports', async () => (await yard.job(id)).progress?.expected_end);
  await visit(page, yard, '/policy');
  await page.fill('.ask-line input', 'srtf, las:thresholds=60, nonsense');
  await page.click('.ask-line button');
  await page.locator('.failure', { hasText: 'nonsense' }).waitFor();
  await page.fill('.ask-line input', 'srtf, las:thresholds=60');
  await page.click('.ask-line button');
  const rows = page.locator('[aria-label="What other policies would do"] tbody tr');
  await rows.nth(2).waitFor();
  same(await rows.locator('.name').allTextContents(), ['elastic-fifo', 'srtf', 'las:thresholds=60']);
  await rows.nth(1).locator('button').click();
  same(await page.inputValue('dialog [name=policy]'), 'srtf');
  await page.keyboard.press('Escape');
  for (const job of (await yard.get('/jobs?active=1')).jobs) await yard.ask('POST', `/jobs/${job.id}/cancel`, { grace: '0s' });
}

async function policy(page, yard) {
  await visit(page, yard, '/policy');
  await page.locator('details.policy', { hasText: 'least attained service in queues' }).locator('summary').click();
  await page.click('[data-policy="las"]');
  await page.click('dialog button:has-text("Back")');
  same((await yard.get('/policy')).policy, 'elastic-fifo');
  await page.click('[data-policy="las"]');
  await page.fill('dialog [name=policy]', 'lass');
  await page.click('dialog button[type=submit]');
  await page.locator('dialog .failure', { hasText: 'las' }).waitFor();
  await page.fill('dialog [name=policy]', 'las:thresholds=60');
  await page.click('dialog button[type=submit]');
  await page.locator('.lead', { hasText: 'las:thresholds=60' }).waitFor();
  same((await yard.get('/policy')).allocate, 'las');
  await yard.ask('PUT', '/policy', { policy: 'elastic-fifo' });
  await page.locator('.lead', { hasText: 'elastic-fifo' }).waitFor();
  await page.locator('details.policy', { hasText: 'the least loaded node' }).locator('summary').click();
  await page.click('[data-policy="spread"]');
  await page.click('dialog button[type=submit]');
  await until('only the placer is another one', async () => {
    const now = await yard.get('/policy');
    return now.place === 'spread' && now.allocate === 'elastic-fifo' && now.share === 'hard';
  });
  await yard.ask('PUT', '/policy', { policy: 'auto' });
  await page.locator('.chosen', { hasText: 'auto' }).waitFor();
  same(await page.locator('details[data-key="allocate-auto"] .state').textContent(), 'active');
  await yard.ask('PUT', '/policy', { policy: 'elastic-fifo' });
  // Decisions are shown as they are made.
  const decided = await page.locator('[aria-label^="Decisions"] b').first().textContent();
  await yard.reaches((await yard.submit(shell('true', { name: 'decided' })))[0], 'done');
  await until('a new decision is listed', async () => (await page.locator('[aria-label^="Decisions"] b').first().textContent()) !== decided);
}

async function submit(page, yard) {
  await visit(page, yard, '/submit');
  await page.fill('[name=command]', "sh -c 'echo from the form'");
  await page.fill('[name=cpus]', '4-1');
  await page.locator('[data-field=cpus] .failure:not(:empty)').waitFor();
  same(await page.getAttribute('[name=cpus]', 'aria-invalid'), 'true');
  await page.fill('[name=cpus]', '1-2');
  await page.fill('[name=name]', 'by hand');
  await page.locator('.same', { hasText: "trainyard submit --name 'by hand' --cpus 1-2 -- sh -c 'echo from the form'" }).waitFor();
  await page.click('button[type=submit]');
  await page.locator('h1', { hasText: 'by hand' }).waitFor();
  await page.locator('.log', { hasText: 'from the form' }).waitFor();
}

// A deadline is answered where it is set, and a flag stands before its name.
async function answers(page, yard) {
  await visit(page, yard, '/submit');
  await page.fill('[name=command]', 'true');
  await page.fill('[name=deadline]', '2h');
  await page.click('summary:has-text("Arrays")');
  const [box, text] = await page.locator('[data-field=hold]').evaluate((label) => {
    const range = document.createRange();
    range.selectNode([...label.childNodes].find((node) => node.nodeType === Node.TEXT_NODE));
    return [label.querySelector('input').getBoundingClientRect(), range.getBoundingClientRect()].map(({ left, top }) => [left, top]);
  });
  expect(box[0] < text[0] && Math.abs(box[1] - text[1]) < 12, 'the box stands before its label');
  await page.check('[name=hold]');
  await page.click('button[type=submit]');
  await page.locator('.warn', { hasText: 'is submitted' }).locator('.state', { hasText: 'deadline:' }).waitFor();
  await page.locator('.warn', { hasText: 'does not look at deadlines' }).waitFor();
  await page.click('.warn a');
  await page.locator('h1', { hasText: 'true' }).waitFor();
}

async function reference(page, yard) {
  await visit(page, yard, '/api');
  const paths = Object.values((await yard.get('/openapi.json')).paths);
  const operations = paths.reduce((n, methods) => n + Object.keys(methods).length, 0);
  await until('all are listed', async () => (await page.locator('details.operation .method').count()) === operations);
  const part = page.locator('details.operation', { hasText: 'Show the versions of server' });
  await part.locator('summary').click();
  await part.locator('button[type=submit]').click();
  await part.locator('.reply', { hasText: '200' }).waitFor();
  expect((await part.locator('.reply pre').textContent()).includes('"api": "v1"'), 'the reply');
  expect((await part.locator('.same').textContent()).includes('/api/v1/version'), 'curl');
}

async function compare(page, yard, first, second) {
  await visit(page, yard, '/jobs');
  await page.fill('input[type=search]', 'curve');
  await page.check(`[data-pick="${first}"]`);
  await page.check(`[data-pick="${second}"]`);
  await page.click('a:has-text("Compare 2")');
  await page.locator('.chart canvas').first().waitFor();
  same(await page.locator('.legend span').count(), 2);
  await page.click('.choice button:has-text("Time")');
  await page.click('.choice button:has-text("Log")');
  await page.locator('.chart canvas').first().waitFor();
}

async function reconnect(page, yard) {
  await visit(page, yard, '/jobs');
  await page.locator('.live', { hasText: /^Live$/ }).waitFor();
  await yard.stop();
  await page.locator('.live', { hasText: 'Not up to date' }).waitFor();
  await yard.start();
  const [id] = await yard.submit(shell('true', { name: 'after the restart', hold: true }));
  await page.locator('.live', { hasText: /^Live$/ }).waitFor({ timeout: 20_000 });
  await page.locator('.job-link', { hasText: 'after the restart' }).waitFor();
  await yard.ask('POST', `/jobs/${id}/release`);
  await page.locator('tr', { hasText: 'after the restart' }).locator('.state', { hasText: 'done' }).waitFor();
  // What the browser says of a server that is away is no fault of the page.
  page.complaints = page.complaints.filter((text) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY/.test(text));
}

(async () => {
  const yard = new Yard();
  await yard.start();
  const browser = await openBrowser();
  const page = await openPage(browser, yard);
  await check('a browser logs in with a token, and out', () => login(browser, yard));
  await check('a link logs in once, and roles decide what is offered', () => roles(browser, yard));
  const [one] = await yard.submit({ command: [TRAINER, '--steps', '1000000'], cpus: '0.3-1', name: 'curve-1', workdir: '/tmp' });
  const [two] = await yard.submit(shell(counts, { cpus: 0.3, name: 'curve-2' }));
  await check('the overview follows jobs and deadlines', () => overview(page, yard));
  await check('jobs are found, filtered, folded and sorted', () => list(page, yard));
  await check('a job has curves on one axis', () => jobPage(page, yard, one));
  await check('a job with several metrics has a curve for each', () => metrics(page, yard));
  await check('the log is followed and searched', () => logs(page, yard, two));
  await check('a long log is searched and paged through', () => longLog(page, yard));
  await check('curves are compared', () => compare(page, yard, one, two));
  await check('names and logs cannot act', () => hostile(page, yard));
  await check('terminal colours are shown', () => colours(page, yard));
  await yard.ask('POST', `/jobs/${one}/cancel`, { grace: '0s' });
  await check('a job is released, changed, resized, requeued, cancelled, held', () => actions(page, yard));
  await check('a node is drained and used again', () => nodes(page, yard));
  await check('what other policies would do is a table', () => whatIf(page, yard));
  await check('the policy is changed after a question', () => policy(page, yard));
  await check('the form submits what it shows', () => submit(page, yard));
  await check('the form shows what the server answers', () => answers(page, yard));
  await check('reports of the simulator are kept and sandboxed', () => simReports(page, yard));
  await check('the API page sends requests', () => reference(page, yard));
  await check('a restarted server is found again', () => reconnect(page, yard));
  await check('the console stays empty', () => same(page.complaints, []));
  await browser.close();
  await yard.end();
  finish();
})();
