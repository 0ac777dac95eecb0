// Lines of a log as elements: terminal colours become classes, and the text only ever becomes
// text.
'use strict';

const SGR_NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

// Applies the numbers of one "select graphic rendition" sequence to the style.
function applySgr(style, numbers) {
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    if (n === 0) style = {};
    else if (n === 1) style = { ...style, bold: true };
    else if (n === 2) style = { ...style, faint: true };
    else if (n === 4) style = { ...style, under: true };
    else if (n === 22) style = { ...style, bold: false, faint: false };
    else if (n === 24) style = { ...style, under: false };
    else if (n >= 30 && n <= 37) style = { ...style, colour: SGR_NAMES[n - 30] };
    else if (n >= 90 && n <= 97) style = { ...style, colour: SGR_NAMES[n - 90] };
    else if (n === 38 && numbers[i + 1] === 5) {
      // Of 256 colours, the first sixteen are these; the others keep the text's own.
      style = { ...style, colour: numbers[i + 2] < 16 ? SGR_NAMES[numbers[i + 2] % 8] : undefined };
      i += 2;
    } else if (n === 38 && numbers[i + 1] === 2) i += 4;
    else if (n === 48) i += numbers[i + 1] === 5 ? 2 : 4;
    else if (n === 39) style = { ...style, colour: undefined };
  }
  return style;
}

const styleClass = (style) =>
  [style.bold && 'a-bold', style.faint && 'a-faint', style.under && 'a-under', style.colour && `a-${style.colour}`]
    .filter(Boolean)
    .join(' ');

// Other control characters are shown, so that nothing hides.
const showControls = (text) =>
  // eslint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (c) =>
    c.charCodeAt(0) < 32 ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : '\ufffd');

// What a terminal shows of a line in which the program went back to its start.
function lastReturn(line) {
  const trimmed = line.replace(/\r+$/, '');
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}

// The parts of a line: [text, class]. `style` goes on from the line before.
function ansiParts(line, style) {
  const parts = [];
  let rest = lastReturn(line);
  // eslint-disable-next-line no-control-regex
  const sequence = /\u001b(?:\[([0-9;:]*)m|\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/;
  for (let found = sequence.exec(rest); found; found = sequence.exec(rest)) {
    if (found.index) parts.push([rest.slice(0, found.index), styleClass(style)]);
    if (found[0].endsWith('m') && found[1] !== undefined) {
      style = applySgr(style, found[1].split(/[;:]/).map(Number));
    }
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest) parts.push([rest, styleClass(style)]);
  return { parts, style };
}

// The part with the searched words marked.
function markedText(text, search) {
  if (!search) return [text];
  const out = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(search); at >= 0; at = lower.indexOf(search, from)) {
    out.push(text.slice(from, at), html('mark', text.slice(at, at + search.length)));
    from = at + search.length;
  }
  return [...out, text.slice(from)];
}

function makeLogLine({ parts }, search) {
  const line = html('div', { class: 'line' });
  for (const [text, style] of parts) {
    const shown = markedText(showControls(text), search);
    if (style) line.append(html('span', { class: style }, shown));
    else line.append(...shown);
  }
  return line;
}
