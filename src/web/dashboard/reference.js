// The page of the API, made from its OpenAPI document: what can be asked, and a form
// to try it.
'use strict';

const typeText = (schema = {}) => {
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.enum) return schema.enum.join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' or ');
  if (schema.type === 'array') return `list of ${typeText(schema.items)}`;
  return [schema.type ?? 'any'].flat().join(' or ');
};

// The example of a request's body, as text.
const bodyExample = (operation) => {
  const content = operation.requestBody?.content?.['application/json'];
  if (!content) return null;
  return JSON.stringify(content.example ?? {}, null, 2);
};

function parameterTable(parameters) {
  if (!parameters.length) return null;
  return html('ul', { class: 'plain parameters-list' }, parameters.map((p) =>
    html('li', html('b', p.name), html('span', { class: 'dim' }, ` ${p.in}, ${typeText(p.schema)}`), html('div', p.description))));
}

// Fills the path and the query from the form.
function requestTarget(path, form, parameters) {
  let target = path;
  const query = new URLSearchParams();
  for (const p of parameters) {
    const value = form.querySelector(`[name="${CSS.escape(p.name)}"]`).value;
    if (p.in === 'path') target = target.replace(`{${p.name}}`, encodeURIComponent(value));
    else if (value) query.set(p.name, value);
  }
  const text = query.toString().replaceAll('%2C', ',');
  return target + (text ? `?${text}` : '');
}

async function showReply(out, method, address, body) {
  const began = performance.now();
  const stopped = new AbortController();
  const late = setTimeout(() => stopped.abort(), 10_000);
  try {
    const response = await fetch(address, { method, signal: stopped.signal,
      headers: body ? { 'Content-Type': 'application/json' } : {}, body: body || undefined });
    const text = await response.text();
    let shown = text;
    if (/json/.test(response.headers.get('Content-Type') || '')) shown = JSON.stringify(JSON.parse(text), null, 2);
    render(out, html('p', html('b', `${response.status} ${response.statusText}`),
      html('span', { class: 'dim' }, ` ${Math.round(performance.now() - began)} ms, ${bytes(text.length)}`)),
    html('pre', { tabindex: 0, 'aria-label': 'Reply' }, shown.slice(0, 20_000)));
  } catch (failure) {
    render(out, html('p', { class: 'failure' }, failure.name === 'AbortError'
      ? 'The reply goes on for longer than 10 seconds: use curl for streams.' : visible(failure.message)));
  }
  clearTimeout(late);
}

function tryForm(method, path, base, operation) {
  const parameters = operation.parameters || [];
  const example = bodyExample(operation);
  const out = html('div', { class: 'reply', 'aria-live': 'polite' });
  const curl = html('code', { class: 'same' });
  const form = html('form', { class: 'try' },
    parameters.map((p) => html('label', { class: 'field' }, p.name, html('input', { name: p.name, autocomplete: 'off', spellcheck: 'false',
      value: p.in === 'path' ? p.example ?? '' : '', placeholder: p.schema?.default ?? '' }))),
    example !== null && html('label', { class: 'field wide' }, 'body', html('textarea', { name: 'body', rows: 4, spellcheck: 'false' }, example)),
    html('div', { class: 'same-box' }, curl),
    html('button', { type: 'submit', class: method === 'get' ? 'primary' : 'danger' }, `Send ${method.toUpperCase()}`), out);
  const body = () => (example === null ? '' : form.elements.body.value);
  const draw = () => {
    const address = `${location.origin}${base}${requestTarget(path, form, parameters)}`;
    curl.textContent = ['curl', method === 'get' ? '' : `-X ${method.toUpperCase()}`, '-H "Authorization: Bearer $TRAINYARD_TOKEN"',
      body() && `-H 'Content-Type: application/json' -d ${shellWord(body().replace(/\s*\n\s*/g, ' '))}`, shellWord(address)]
      .filter(Boolean).join(' ');
  };
  form.addEventListener('input', draw);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    showReply(out, method.toUpperCase(), `${base}${requestTarget(path, form, parameters)}`.replace(/^\//, ''), body());
  });
  draw();
  return form;
}

function operationPart(method, path, base, operation) {
  const made = html('div');
  const details = html('details', { class: 'operation' },
    html('summary', html('span', { class: `method ${method}` }, method.toUpperCase()), html('span', { class: 'name' }, path),
      html('span', { class: 'dim' }, operation.summary)), made);
  // Forty forms at once are slow, and nobody needs more than one.
  details.addEventListener('toggle', () => {
    if (made.firstChild) return;
    const replies = Object.entries(operation.responses).map(([status, reply]) =>
      html('li', html('b', status), html('span', { class: 'dim' }, ` ${reply.description ?? reply.$ref?.split('/').pop() ?? ''}`)));
    made.append(html('p', operation.description), parameterTable(operation.parameters || []) ?? '',
      html('h4', 'Replies'), html('ul', { class: 'plain' }, replies), html('h4', 'Try it'), tryForm(method, path, base, operation));
  });
  return details;
}

function schemaPart(name, schema) {
  return html('details', { class: 'operation' }, html('summary', html('span', { class: 'name' }, name)),
    html('ul', { class: 'plain parameters-list' }, Object.entries(schema.properties || {}).map(([member, its]) =>
      html('li', html('b', member), html('span', { class: 'dim' }, ` ${typeText(its)}`), html('div', its.description ?? ''))),
    schema.enum && html('li', schema.enum.join(', '))));
}

function referencePage(main) {
  const list = html('div', html('p', { class: 'dim' }, 'Loading …'));
  main.append(html('div', { class: 'heading page-head' }, html('h1', 'API'), html('a', { class: 'button', href: 'openapi.json' }, 'openapi.json')), list);
  get('/openapi.json').then((doc) => {
    const base = doc.servers?.[0]?.url?.replace(/\/$/, '') ?? '';
    const tags = new Map();
    for (const [path, methods] of Object.entries(doc.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const tag = operation.tags?.[0] ?? 'Other';
        if (!tags.has(tag)) tags.set(tag, []);
        tags.get(tag).push(operationPart(method, path, base, operation));
      }
    }
    list.replaceChildren(html('p', { class: 'note' }, `Version ${doc.info.version}. Everything here is made from the server’s own document; requests are sent for real.`),
      ...[...tags].map(([tag, operations]) => html('section', html('h2', tag), operations)),
      html('section', html('h2', 'Objects'), Object.entries(doc.components.schemas).map(([name, schema]) => schemaPart(name, schema))));
  }).catch((problem) => render(list, html('p', { class: 'failure' }, visible(problem.message))));
  return { title: 'API', update: () => {}, end: () => {} };
}
