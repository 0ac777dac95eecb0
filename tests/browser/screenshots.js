// Pictures of the dashboard's pages, for tools/screenshots.
'use strict';

const path = require('node:path');
const { Yard, TRAINER, until, pause, openBrowser, openPage, visit } = require('./yard.js');

const TRAINING_SECONDS = 60;
const pages = (ids) => [
  ['overview', '/', { viewport: { width: 1180, height: 1180 } }],
  ['job', `/jobs/${ids.first}`, { viewport: { width: 1180, height: 1240 } }],
  ['job-dark', `/jobs/${ids.first}`, { viewport: { width: 1180, height: 1240 }, colorScheme: 'dark' }],
  ['jobs', '/jobs', {}],
  ['phone', `/jobs/${ids.first}`, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
];

// Networks of different sizes, whose cores are divided again at each arrival.
async function train(yard) {
  const trainer = (name, hidden, more) =>
    yard.submit({ command: ['./trainer', '--steps', '200000', '--hidden', String(hidden)], cpus: '0.5-2', name,
      workdir: path.dirname(TRAINER), ...more });
  const [first] = await trainer('mnist-mlp', 96, { deadline: '24h' });
  await pause(TRAINING_SECONDS * 400);
  await trainer('ablation-small', 48, { deadline: '30m' });
  await yard.submit({ command: ['sh', '-c', 'for i in $(seq 30); do echo "step $i/30 loss=0.$((100 - i * 3))"; sleep 0.05; done'],
    cpus: 0.5, name: 'warm-up', workdir: '/tmp' });
  await pause(TRAINING_SECONDS * 400);
  await yard.submit({ command: ['python3', 'train.py'], cpus: 1, name: 'sweep-lr', array: '0-7', hold: true, workdir: '/tmp' });
  await yard.submit({ command: ['python3', 'finetune.py'], cpus: 2, name: 'finetune', workdir: '/tmp', after: `afterok:${first}` });
  await pause(TRAINING_SECONDS * 200);
  await until('it reports', async () => (await yard.get(`/jobs/${first}/progress`)).samples.length > 20);
  return { first };
}

(async () => {
  const target = process.argv[2];
  const yard = new Yard();
  await yard.start();
  const ids = await train(yard);
  const browser = await openBrowser();
  for (const [name, where, options] of pages(ids)) {
    const page = await openPage(browser, yard, { viewport: { width: 1180, height: 860 }, ...options });
    await visit(page, yard, where);
    await pause(2500);
    await page.screenshot({ path: path.join(target, `dashboard-${name}.png`) });
    console.log(path.join(target, `dashboard-${name}.png`));
    await page.context().close();
  }
  await browser.close();
  await yard.end();
})();
