// Requests to the server. Everything goes through request(), which turns a refusal
// into a Problem and asks for a login where one is needed.
'use strict';

class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the server replied with status ${status}`);
    this.status = status;
    this.field = body.field;
  }
}

async function readProblem(response) {
  const body = await response.json().catch(() => ({}));
  return new Problem(response.status, body);
}

// A reply that is not JSON is given as it is.
async function request(method, path, body, options = {}) {
  const headers = { ...options.headers };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(`api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: options.signal,
    });
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    throw new Problem(0, { detail: 'the server does not answer' });
  }
  if (response.status === 401 && !options.login) dispatchEvent(new Event('loginneeded'));
  if (!response.ok) throw await readProblem(response);
  return options.raw ? response : response.json();
}

const get = (path, options) => request('GET', path, undefined, options);
const post = (path, body) => request('POST', path, body);

const logIn = (token) =>
  request('POST', '/login', undefined, {
    login: true,
    headers: { Authorization: `Bearer ${token}` },
  });
// The code is that of a link which `trainyard open` made.
const followLink = (code) => request('POST', '/login', { code }, { login: true });
const logOut = () => post('/logout');

// Calls each(job) for the jobs of every page, until there are no more, `most` were
// read, or each page's callback returns false.
async function listJobs(query, most, page) {
  let after = '';
  let n = 0;
  do {
    const reply = await get(`/jobs?limit=1000${query}${after}`);
    n += reply.jobs.length;
    page(reply.jobs);
    if (reply.next === null) return { complete: true };
    after = `&after=${reply.next}`;
  } while (n < most);
  return { complete: false, after };
}
