// What an open page of the dashboard costs while many jobs report every second: CPU time of the
// server, of the page, and of the browser as a whole, each as a part of one core.
'use strict';

const fs = require('node:fs');
const { Yard, until, pause, openBrowser, openPage, visit } = require('../../tests/browser/yard.js');

const JOBS = Number(process.env.JOBS || 200);
const SECONDS = Number(process.env.SECONDS || 30);
const TICKS = 100; // of /proc, per second

// CPU seconds of a process with the children that it has waited for, or 0 if it is gone.
function cpuSeconds(pid) {
  try {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return 0;
  }
}

// Processes below this one.
function descendants(root) {
  const children = new Map();
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1];
      children.set(parent, [...(children.get(parent) || []), pid]);
    } catch { /* it has ended */ }
  }
  const found = [];
  for (let next = [String(root)]; next.length;) {
    const pid = next.pop();
    found.push(pid);
    next.push(...(children.get(pid) || []));
  }
  return found;
}

const sum = (pids) => pids.reduce((all, pid) => all + cpuSeconds(pid), 0);

async function pageSeconds(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value;
}

async function measure(browser, yard, where) {
  const page = await openPage(browser, yard);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await visit(page, yard, where);
  await pause(5000); // what it loads first
  const pids = descendants(process.pid).filter((pid) => Number(pid) !== process.pid && Number(pid) !== yard.process.pid);
  const before = [cpuSeconds(yard.process.pid), await pageSeconds(session), sum(pids), Date.now()];
  await pause(SECONDS * 1000);
  const after = [cpuSeconds(yard.process.pid), await pageSeconds(session), sum(pids), Date.now()];
  const passed = (after[3] - before[3]) / 1000;
  await page.context().close();
  return [0, 1, 2].map((i) => `${(((after[i] - before[i]) / passed) * 100).toFixed(1)} %`);
}

async function serverAlone(yard) {
  const before = [cpuSeconds(yard.process.pid), Date.now()];
  await pause(SECONDS * 1000);
  return `${(((cpuSeconds(yard.process.pid) - before[0]) / ((Date.now() - before[1]) / 1000)) * 100).toFixed(1)} %`;
}

(async () => {
  const yard = new Yard();
  await yard.start();
  const loop = 'i=0; while :; do i=$((i + 1)); echo "step $i/100000 loss=0.$((9000 - i))"; sleep 1; done';
  const request = { command: ['sh', '-c', loop], cpus: 0.009, workdir: '/tmp' };
  const ids = await yard.submit({ jobs: Array.from({ length: JOBS }, (_, i) => ({ ...request, name: `job-${i}` })) });
  await until(`${JOBS} jobs run`, async () => (await yard.get('/jobs?state=running&limit=1000')).jobs.length === JOBS, 300);
  await until('they report', async () => (await yard.job(ids[JOBS - 1])).progress?.step > 2, 120);
  console.log(`${JOBS} running jobs that report every second; CPU time in ${SECONDS} s, of one core\n`);
  console.log('page                   server     page   browser');
  console.log(`${'none'.padEnd(20)}${(await serverAlone(yard)).padStart(9)}`);
  const browser = await openBrowser();
  for (const [name, where] of [['overview', '/'], ['jobs', '/jobs'], ['a job', `/jobs/${ids[0]}`]]) {
    const [server, page, all] = await measure(browser, yard, where);
    console.log(`${name.padEnd(20)}${server.padStart(9)}${page.padStart(9)}${all.padStart(10)}`);
  }
  await browser.close();
  await yard.end();
  process.exit(0);
})();
