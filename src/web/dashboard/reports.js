// Reports of the simulator that the server keeps: listed, opened in a page of their own, which
// is sandboxed, and uploaded.
'use strict';

async function uploadReport(name, file) {
  const response = await fetch(`api/v1/reports/${encodeURIComponent(name)}`, {
    method: 'PUT', headers: { 'Content-Type': 'application/octet-stream' }, body: file });
  if (!response.ok) throw await readProblem(response);
  return response.json();
}

// "My report.html" -> "My-report"
const reportName = (file) => file.replace(/\.html?$/i, '').replace(/[^\w.-]+/g, '-').replace(/^\.+/, '').slice(0, 100) || 'report';

function reportTable(reports) {
  if (!reports.length) {
    return html('p', { class: 'empty' }, 'No reports yet. Make one with ',
      html('code', 'trainyard sim TRACE --policy fifo --policy srtf --report report.html'), ' and upload it here.');
  }
  return html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Reports' },
    html('table', html('thead', html('tr', html('th', { scope: 'col', class: 'text' }, 'Report'), html('th', { scope: 'col' }, 'Written'),
      html('th', { scope: 'col' }, 'Size'), html('th', { scope: 'col' }, html('span', { class: 'unseen' }, 'Action')))),
    html('tbody', [...reports].sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1)).map((one) => html('tr', { 'data-key': one.name },
      html('td', { class: 'text' }, html('a', { href: `api/v1/reports/${encodeURIComponent(one.name)}`, target: '_blank', rel: 'noopener' }, one.name)),
      html('td', timeElement(one.at)), html('td', bytes(one.bytes)),
      html('td', yard.mayAdminister() && html('button', { type: 'button', 'data-report': one.name }, 'Remove')))))));
}

function reportsPage(main) {
  const list = html('div');
  const file = html('input', { type: 'file', accept: '.html,text/html', class: 'unseen', tabindex: -1, 'aria-label': 'Report file' });
  const draw = ({ reports }) => main.isConnected && render(list, reportTable(reports));
  file.addEventListener('change', () => {
    const [one] = file.files;
    if (!one) return;
    attempt(`${reportName(one.name)} is uploaded.`, async () => draw(await uploadReport(reportName(one.name), one)));
    file.value = '';
  });
  list.addEventListener('click', (event) => {
    const name = event.target.closest('[data-report]')?.dataset.report;
    if (!name) return;
    ask({ title: `Remove ${name}?`, text: 'It cannot be brought back.', verb: 'Remove it', danger: true, act: async () => {
      draw(await request('DELETE', `/reports/${encodeURIComponent(name)}`));
      note(`${name} is removed.`);
    } });
  });
  main.append(
    html('div', { class: 'heading page-head' }, html('h1', 'Simulator reports'),
      yard.maySubmit() && html('span', file, html('button', { type: 'button', class: 'primary', onclick: () => file.click() }, 'Upload a report …'))),
    html('p', { class: 'note' }, 'What policies would do with a trace, as the simulator wrote it. A report opens in a sandbox: it reaches neither your login nor any server.'),
    list);
  get('/reports').then(draw).catch((problem) => render(list, html('p', { class: 'failure' }, visible(problem.message))));
  return { title: 'Reports', update: () => {}, end: () => {} };
}
