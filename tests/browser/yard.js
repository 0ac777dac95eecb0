// A real server for tests in a browser: started, stopped and asked from here.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '../..');
const BUILD = process.env.BUILD ? path.resolve(process.env.BUILD) : path.join(ROOT, 'build');
const PROGRAM = process.env.TRAINYARD || path.join(BUILD, 'trainyard');
const TRAINER = path.join(BUILD, 'examples/trainer');
const TOKEN = 'a token for tests';

const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

// Tries until the result is true; its last result is the error.
async function until(what, test, seconds = 30) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const result = await test();
    if (result) return result;
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await pause(50);
  }
}

class Yard {
  constructor() {
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'trainyard-browser.'));
    this.port = null;
  }

  // The second start listens on the port of the first, as a restarted service does.
  async start() {
    const log = fs.openSync(path.join(this.dir, 'log'), 'a');
    const from = fs.statSync(path.join(this.dir, 'log')).size;
    this.process = spawn(
      PROGRAM,
      ['serve', '--state', path.join(this.dir, 'state'), '--listen', `127.0.0.1:${this.port ?? 0}`],
      { env: { ...process.env, TRAINYARD_TOKEN: TOKEN }, stdio: ['ignore', log, log] },
    );
    fs.closeSync(log);
    const found = await until('the server listens', () =>
      /port=(\d+)/.exec(fs.readFileSync(path.join(this.dir, 'log'), 'utf8').slice(from)));
    this.port = Number(found[1]);
    this.url = `http://127.0.0.1:${this.port}`;
  }

  async stop() {
    const ended = new Promise((done) => {
      this.process.once('exit', done);
    });
    this.process.kill('SIGTERM');
    await ended;
  }

  async end() {
    const running = async () => (await this.get('/jobs?state=running,starting,stopping')).jobs;
    await until('jobs that run are over', async () => {
      const jobs = await running();
      for (const { id } of jobs) await this.ask('POST', `/jobs/${id}/cancel`, { grace: '0s' }).catch(() => {});
      return !jobs.length;
    });
    await this.stop();
    fs.rmSync(this.dir, { recursive: true, force: true });
  }

  async ask(method, target, body, token = TOKEN) {
    const response = await fetch(`${this.url}/api/v1${target}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${await response.text()}`);
    return response.json();
  }
  get(target) {
    return this.ask('GET', target);
  }
  // The ids of the submitted jobs.
  async submit(request) {
    return (await this.ask('POST', '/jobs', request)).jobs.map(({ id }) => id);
  }
  job(id) {
    return this.get(`/jobs/${id}`);
  }
  async reaches(id, state, seconds) {
    return until(`job ${id} is ${state}`, async () => (await this.job(id)).state === state, seconds);
  }
}

// A browser with a page that is logged in. Whatever is on its console, and every
// failure, is kept in page.complaints.
async function openBrowser() {
  const { chromium } = require('playwright-core');
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const executablePath = names
    .flatMap((name) => process.env.PATH.split(':').map((dir) => path.join(dir, name)))
    .find((file) => fs.existsSync(file));
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

async function openPage(browser, yard, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.request.post(`${yard.url}/api/v1/login`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => {
    // The browser logs each refusal, such as that of a form which is not complete yet.
    if (/status of 4(00|01|09)/.test(message.text())) return;
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', (failure) => page.complaints.push(String(failure.stack)));
  page.on('dialog', (dialog) => {
    page.complaints.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return page;
}

// Goes to a page of the dashboard, by its address after the #.
async function visit(page, yard, where) {
  await page.goto('about:blank');
  await page.goto(`${yard.url}/#${where}`);
  await page.waitForSelector('html[data-ready="yes"]');
}

module.exports = { Yard, PROGRAM, TOKEN, TRAINER, until, pause, openBrowser, openPage, visit };
