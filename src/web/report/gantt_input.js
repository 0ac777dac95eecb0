// Pointer, wheel, touch and keyboard on the Gantt chart, and its tooltip.
'use strict';

// What the job does at a time, in words.
function activityAt(gantt, job, t) {
  const { bars, rows, report } = gantt;
  for (let i = rows.first[job]; i <= rows.last[job]; i++) {
    if (t >= bars.from[i] && t < bars.to[i]) {
      const units = `${+bars.units[i].toFixed(3)} ${report.unit}${bars.units[i] === 1 ? '' : 's'}`;
      const node =
        report.cluster.nodes > 1
          ? `, first node ${report.cluster.names[bars.node[i]] ?? bars.node[i]}`
          : '';
      return `${units} from ${moment(bars.from[i])} to ${moment(bars.to[i])}${node}`;
    }
  }
  if (t < report.jobs.submit[job]) return 'not submitted yet';
  return t >= bars.to[rows.last[job]] ? 'over' : 'waiting';
}

function ganttTip(gantt, event) {
  const box = gantt.canvas.getBoundingClientRect();
  const px = event.clientX - box.left;
  const job = gantt.jobAt(px, event.clientY - box.top);
  if (job < 0) {
    tip.hide();
    return;
  }
  const rows = gantt.policy.rows();
  const t = gantt.time(Math.max(px, gantt.left));
  tip.show(
    event.clientX,
    event.clientY,
    html('b', { class: 'name' }, html('bdi', gantt.report.jobs.name[job])),
    html('div', `at ${moment(t)}: ${activityAt(gantt, job, t)}`),
    html(
      'div',
      { class: 'dim' },
      `waited ${duration(rows.wait[job])}, ran ${duration(rows.run[job])}, `,
      Number.isNaN(rows.jct[job]) ? 'did not finish' : `completed in ${duration(rows.jct[job])}`,
    ),
  );
}

// Drag to move, two fingers to zoom, click to pick. On a touch screen one
// finger up or down still scrolls the page.
function listenPointers(gantt, onPick) {
  const held = new Map();
  let moved = 0;
  let apart = 0;
  const distance = () => {
    const [a, b] = [...held.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  gantt.box.addEventListener('pointerdown', (event) => {
    if (event.button > 0) return;
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    moved = 0;
    if (held.size === 2) apart = distance();
  });
  gantt.box.addEventListener('pointermove', (event) => {
    const was = held.get(event.pointerId);
    if (!was) {
      ganttTip(gantt, event);
      return;
    }
    const now = { x: event.clientX, y: event.clientY };
    held.set(event.pointerId, now);
    moved += Math.abs(now.x - was.x) + Math.abs(now.y - was.y);
    if (held.size === 2) {
      const box = gantt.canvas.getBoundingClientRect();
      const [a, b] = [...held.values()];
      gantt.zoom(
        apart / Math.max(1, distance()),
        (a.x + b.x) / 2 - box.left,
        (a.y + b.y) / 2 - box.top,
      );
      apart = distance();
    } else if (moved > 4) {
      gantt.box.setPointerCapture(event.pointerId);
      gantt.box.classList.add('dragging');
      tip.hide();
      gantt.pan(was.x - now.x, was.y - now.y);
    }
  });
  const release = (event) => {
    const clicked = held.delete(event.pointerId) && event.type === 'pointerup' && moved <= 4;
    gantt.box.classList.remove('dragging');
    if (!clicked) return;
    const box = gantt.canvas.getBoundingClientRect();
    const job = gantt.jobAt(event.clientX - box.left, event.clientY - box.top);
    if (job >= 0) onPick(job);
  };
  gantt.box.addEventListener('pointerup', release);
  gantt.box.addEventListener('pointercancel', release);
  gantt.box.addEventListener('pointerleave', () => tip.hide());
}

// Only once the chart has the focus, or with Ctrl: a reader who scrolls past
// must not be caught in it.
function listenWheel(gantt) {
  gantt.box.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && document.activeElement !== gantt.box) return;
      event.preventDefault();
      const box = gantt.canvas.getBoundingClientRect();
      const turn = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 24 : 1);
      gantt.zoom(
        Math.exp(Math.max(-300, Math.min(300, turn)) * 0.0022),
        event.clientX - box.left,
        event.clientY - box.top,
        !event.shiftKey,
      );
      ganttTip(gantt, event);
    },
    { passive: false },
  );
}

function listenKeys(gantt, onPick) {
  const step = (by) => {
    const { jobs, rowOf } = gantt.rows;
    const now = gantt.picked < 0 ? -1 : rowOf[gantt.picked];
    if (!jobs.length) return;
    const start = now < 0 ? Math.floor(gantt.view.y0) - (by > 0 ? 1 : 0) : now;
    onPick(jobs[Math.max(0, Math.min(jobs.length - 1, start + by))]);
  };
  const actions = {
    ArrowLeft: () => gantt.pan(-gantt.plotWidth / 10, 0),
    ArrowRight: () => gantt.pan(gantt.plotWidth / 10, 0),
    ArrowUp: () => step(-1),
    ArrowDown: () => step(1),
    PageUp: () => gantt.pan(0, -gantt.plotHeight * 0.8),
    PageDown: () => gantt.pan(0, gantt.plotHeight * 0.8),
    '+': () => gantt.zoom(1 / 1.5),
    '=': () => gantt.zoom(1 / 1.5),
    '-': () => gantt.zoom(1.5),
    0: () => gantt.fit(),
    Enter: () => gantt.picked >= 0 && gantt.frame(gantt.picked),
    Escape: () => gantt.box.blur(),
  };
  gantt.box.addEventListener('keydown', (event) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    tip.hide();
    action();
  });
}

function listenGantt(gantt, onPick) {
  listenPointers(gantt, onPick);
  listenWheel(gantt);
  listenKeys(gantt, onPick);
  for (const button of byId('gantt-zoom').querySelectorAll('button')) {
    button.addEventListener('click', () =>
      ({
        in: () => gantt.zoom(1 / 1.6),
        out: () => gantt.zoom(1.6),
        fit: () => gantt.fit(),
      })[button.dataset.zoom](),
    );
  }
}
