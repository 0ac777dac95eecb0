// The stream of events, and the mark that says whether the page is up to date. The
// browser connects again by itself after an interruption; it is done here when the
// server has refused, and after a hidden page is shown again.
'use strict';

const HIDDEN_FOR = 30_000; // until a hidden page gives up its connection
const QUIET_FOR = 20_000; // until the server is asked whether it is there
const RETRY_AFTER = 2_000;

const live = {
  source: null,
  seq: null,
  state: 'connecting',
  since: null, // when it became stale
  heard: 0,
  listeners: new Set(),

  start() {
    document.addEventListener('visibilitychange', () => this.followVisibility());
    setInterval(() => this.checkQuiet(), 5_000);
    setInterval(() => this.draw(), 1_000);
    this.connect();
  },
  // Calls listener(event) for each event; returns how to stop it.
  watch(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  },

  connect() {
    this.close();
    const after = this.seq === null ? '' : `&after=${this.seq}`;
    const source = new EventSource(`api/v1/events?progress=1${after}`);
    this.source = source;
    source.onopen = () => this.opened();
    source.onerror = () => this.broken(source);
    for (const kind of [...EVENT_KINDS, 'job.progress']) {
      source.addEventListener(kind, (message) => this.take(JSON.parse(message.data)));
    }
  },
  close() {
    this.source?.close();
    this.source = null;
  },

  opened() {
    const again = this.state === 'stale';
    this.heard = Date.now();
    this.set('live');
    if (!again) return;
    yard.stale.all = true;
    yard.soon();
    dispatchEvent(new Event('reconnected'));
  },
  broken(source) {
    if (source !== this.source) return;
    this.set('stale');
    if (source.readyState !== EventSource.CLOSED) return;
    this.close();
    setTimeout(() => {
      if (!this.source && !document.hidden) this.connect();
    }, RETRY_AFTER);
  },
  take(event) {
    this.heard = Date.now();
    if (event.seq) this.seq = event.seq;
    yard.take(event);
    for (const listener of [...this.listeners]) listener(event);
  },

  // Comments of the server keep the connection open, but scripts do not see them.
  async checkQuiet() {
    if (this.state !== 'live' || document.hidden || Date.now() - this.heard < QUIET_FOR) return;
    try {
      await get('/ready', { signal: AbortSignal.timeout(5_000) });
      this.heard = Date.now();
    } catch {
      this.set('stale');
      this.connect();
    }
  },
  followVisibility() {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => {
        this.close();
        this.set('stale');
      }, HIDDEN_FOR);
    } else if (!this.source) {
      this.connect();
    }
  },

  set(state) {
    if (state === this.state) return;
    this.since = state === 'stale' ? Date.now() : null;
    this.state = state;
    document.documentElement.classList.toggle('stale', state === 'stale');
    this.draw();
  },
  draw() {
    const words = {
      connecting: 'Connecting',
      live: 'Live',
      stale: `Not up to date since ${clockTime((this.since ?? 0) / 1000)}; reconnecting`,
    };
    render(
      byId('live'),
      html('span', { class: `dot ${this.state}`, 'aria-hidden': 'true' }),
      html('span', { class: 'said' }, words[this.state]),
    );
  },
};
