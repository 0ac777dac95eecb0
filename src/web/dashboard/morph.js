// Changes elements into others in place, so that a page which is drawn again keeps
// focus, selection and scroll positions. Listeners of the old elements stay: those of
// a part that is drawn again must not depend on what was drawn.
'use strict';

function sameKind(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && a.id === b.id &&
    a.dataset?.key === b.dataset?.key;
}

// The content-security policy refuses style attributes, but not the properties.
function morphAttributes(from, to) {
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name)) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (name !== 'style' && from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  if (from.style && from.style.cssText !== to.style.cssText) from.style.cssText = to.style.cssText;
}

function morphNode(from, to) {
  if (from.nodeType === Node.TEXT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  morphAttributes(from, to);
  if (from.nodeName === 'PROGRESS') from.value = to.value;
  morphChildren(from, [...to.childNodes]);
}

function morphChildren(box, wanted) {
  let at = box.firstChild;
  for (const node of wanted) {
    if (at && sameKind(at, node)) {
      morphNode(at, node);
      at = at.nextSibling;
    } else {
      box.insertBefore(node, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Makes `children` (elements and texts) the content of the box.
function render(box, ...children) {
  const wanted = document.createDocumentFragment();
  wanted.append(...children.flat(3).filter((child) => child || child === 0));
  wanted.normalize();
  morphChildren(box, [...wanted.childNodes]);
}
