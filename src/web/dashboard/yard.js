// What the page knows of the server: jobs, nodes and the policy. Events say which of
// them have changed; those are read again, at most once a second.
'use strict';

const EVENT_KINDS = [
  'job.submitted', 'job.started', 'job.diverged', 'job.stalled', 'job.at_risk', 'job.stopped', 'job.resized', 'job.probe', 'job.probed',
  'job.late', 'job.restarted', 'job.listed',
  'job.paused', 'job.resumed', 'job.preempted', 'job.retried', 'job.requeued', 'job.moving', 'job.moved',
  'job.fenced', 'job.held',
  'job.released', 'job.changed', 'job.ended', 'node.joined', 'node.changed', 'node.removed',
  'node.suspect', 'node.lost', 'node.returned', 'node.refused', 'node.accepted', 'node.drained', 'node.undrained',
  'policy.changed', 'policy.chosen', 'server.started',
];
// From this many changed jobs on, whole pages are cheaper than single jobs.
const MANY = 400;
const IDS_PER_REQUEST = 200;

const yard = {
  jobs: new Map(),
  nodes: [],
  policy: null,
  me: null, // user and role
  loaded: false, // active jobs, nodes and policy are known
  complete: false, // so are jobs that have ended
  listeners: new Set(),
  dirty: new Set(),
  stale: { nodes: false, policy: false, all: false },
  timer: null,
  refreshing: false,

  // What the user may do; the server checks it again.
  mayAdminister() {
    return this.me?.role === 'admin';
  },
  maySubmit() {
    return this.mayAdminister() || this.me?.role === 'user';
  },
  mayChange(job) {
    return this.mayAdminister() || (this.maySubmit() && job.user === this.me.user);
  },

  // Calls listener(kind) when something has changed; returns how to stop it.
  watch(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  },
  tell(kind) {
    for (const listener of [...this.listeners]) listener(kind);
  },
  list(test) {
    const found = [...this.jobs.values()];
    return test ? found.filter(test) : found;
  },
  keep(jobs) {
    for (const job of jobs) this.jobs.set(job.id, job);
  },

  async load() {
    const [me, nodes, policy] = await Promise.all([
      get('/session'),
      get('/nodes'),
      get('/policy'),
      listJobs('&active=1', Infinity, (jobs) => this.keep(jobs)),
    ]);
    this.me = me;
    this.nodes = nodes.nodes;
    this.policy = policy;
    this.loaded = true;
    this.tell('all');
  },

  // Reads jobs that have ended, newest first, up to `most` in all.
  async loadEnded(most = 20_000) {
    if (this.complete || this.loadingEnded) return;
    this.loadingEnded = true;
    try {
      const { complete } = await listJobs('', most, (jobs) => {
        this.keep(jobs);
        this.tell('jobs');
      });
      this.complete = complete;
    } finally {
      this.loadingEnded = false;
    }
    this.tell('jobs');
  },

  // An event of the server, as it was sent.
  take(event) {
    if (event.kind === 'job.progress') {
      this.takeProgress(event);
      return;
    }
    if (event.job) this.dirty.add(event.job);
    if (event.kind.startsWith('node.') || /^job\.(started|resized|ended|paused|resumed|preempted|retried|requeued)$/.test(event.kind)) {
      this.stale.nodes = true;
    }
    if (event.kind === 'policy.changed' || event.kind === 'policy.chosen') this.stale.policy = true;
    if (event.kind === 'server.started') this.stale.all = true;
    this.soon();
  },
  takeProgress(event) {
    const job = this.jobs.get(event.job);
    if (!job) return;
    const { kind, job: id, attempt, ...said } = event;
    job.progress = { ...job.progress, ...said };
    this.tell('progress');
  },

  soon() {
    if (this.timer || this.refreshing) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.refresh();
    }, 250);
  },
  async refresh() {
    this.refreshing = true;
    const started = Date.now();
    try {
      await this.readChanges();
      this.tell('all');
    } catch (failure) {
      // Told again by the next event, or when the connection is back.
      if (!(failure instanceof Problem)) throw failure;
      this.stale.all = true;
    } finally {
      const pause = Math.max(0, 1000 - (Date.now() - started));
      setTimeout(() => {
        this.refreshing = false;
        if (this.dirty.size || this.stale.nodes || this.stale.policy) this.soon();
      }, pause);
    }
  },
  async readChanges() {
    const ids = [...this.dirty];
    const { nodes, policy, all } = this.stale;
    this.dirty.clear();
    this.stale = { nodes: false, policy: false, all: false };
    if (all) {
      await this.reload();
      return;
    }
    if (nodes) this.nodes = (await get('/nodes')).nodes;
    if (policy) this.policy = await get('/policy');
    if (ids.length > MANY) await this.reload();
    else await this.readJobs(ids);
  },
  async readJobs(ids) {
    for (let i = 0; i < ids.length; i += IDS_PER_REQUEST) {
      const some = ids.slice(i, i + IDS_PER_REQUEST);
      this.keep((await get(`/jobs?limit=1000&ids=${some.join(',')}`)).jobs);
    }
  },
  // After a gap: what was active may have ended meanwhile.
  async reload() {
    const before = this.list(isActive).map((job) => job.id);
    const active = new Set();
    await listJobs('&active=1', Infinity, (jobs) => {
      this.keep(jobs);
      for (const job of jobs) active.add(job.id);
    });
    await this.readJobs(before.filter((id) => !active.has(id)));
    this.nodes = (await get('/nodes')).nodes;
    this.policy = await get('/policy');
    if (this.complete) {
      this.complete = false;
      await this.loadEnded(Math.max(20_000, this.jobs.size));
    }
  },
};
