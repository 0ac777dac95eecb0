// Text and elements: how numbers, times and names are spelt, and two short
// functions that make elements. Text from the data only ever becomes a text
// node, so that nothing in it can act as markup.
'use strict';

// What stands first is attributes when it is a plain object, else a child.
function element(space, tag, children) {
  const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
  const attributes = children[0]?.constructor === Object ? children.shift() : {};
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(3)) {
    if (child || child === 0) node.append(child);
  }
  return node;
}

const html = (tag, ...children) => element(null, tag, children);
const svg = (tag, ...children) => element('http://www.w3.org/2000/svg', tag, children);
const byId = (id) => document.getElementById(id);

// 12345.6 -> "12,345.6"; the same in every locale.
function grouped(value, decimals = 0) {
  const [whole, rest] = Math.abs(value).toFixed(decimals).split('.');
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ',') + (rest ? '.' + rest : '');
  return value < 0 && /[1-9]/.test(text) ? '−' + text : text;
}

// 1st, 2nd, 3rd, 11th, 21st.
function ordinal(n) {
  const ending = Math.floor(n / 10) % 10 === 1 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] || 'th';
  return grouped(n) + ending;
}

const count = (n, one, many = one + 's') => `${grouped(n)} ${n === 1 ? one : many}`;

const percent = (share, decimals = 1) => `${(share * 100).toFixed(decimals)} %`;

const twoDigits = (n) => String(n).padStart(2, '0');

// Seconds as people say them: "417 ms", "12.3 s", "4m 07s", "3h 05m", "2d 04h".
function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return '–';
  const s = Math.abs(seconds);
  const sign = seconds < 0 ? '−' : '';
  if (s === 0) return '0 s';
  if (s < 0.9995) return `${sign}${Math.round(s * 1000)} ms`;
  if (s < 59.95) return `${sign}${s.toFixed(1)} s`;
  if (s < 3599.5) {
    const r = Math.round(s);
    return `${sign}${Math.floor(r / 60)}m ${twoDigits(r % 60)}s`;
  }
  if (s < 86370) {
    const m = Math.round(s / 60);
    return `${sign}${Math.floor(m / 60)}h ${twoDigits(m % 60)}m`;
  }
  const h = Math.round(s / 3600);
  return `${sign}${grouped(Math.floor(h / 24))}d ${twoDigits(h % 24)}h`;
}

// For the reader who wants every digit.
const exactSeconds = (s) => (s === null ? '' : `${grouped(s, Number.isInteger(s) ? 0 : 3)} s`);

// A name from the trace. Characters that are not seen, or that turn the text
// around, are shown as escapes.
function visible(name) {
  return name.replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) =>
      ({ '\n': '\\n', '\t': '\\t', '\r': '\\r' })[c] ||
      `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const baseName = (path) => path.replace(/\/+$/, '').split('/').pop() || path;

// An elided middle keeps what tells variants of one policy apart.
function shortened(text, most) {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return text.slice(0, most - 1 - tail) + '…' + text.slice(text.length - tail);
}

// One tooltip for the whole page, beside the pointer and inside the window.
const tip = {
  show(x, y, ...content) {
    const box = byId('tip');
    box.replaceChildren(...content);
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = x + 16 + width > innerWidth - 6 ? x - 16 - width : x + 16;
    box.style.left = `${Math.max(6, left)}px`;
    box.style.top = `${Math.max(6, Math.min(y + 14, innerHeight - height - 6))}px`;
  },
  hide() {
    byId('tip').hidden = true;
  },
};
