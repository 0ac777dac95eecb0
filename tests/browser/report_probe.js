// Runs inside a report and checks what a reader would see and do. Each check is
// one line in a <pre>, "ok - NAME" or "not ok - NAME: WHY"; the page's address
// says what to expect: report.html?jobs=195&policies=3. It is put into a script
// element, so it must not spell a tag of one.
'use strict';

(async () => {
  const expected = Object.fromEntries(new URLSearchParams(location.search));
  const jobs = Number(expected.jobs);
  const policies = Number(expected.policies);
  const lines = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const pause = (ms = 60) =>
    new Promise((done) => {
      setTimeout(done, ms);
    });
  const texts = (selector) => all(selector).map((node) => node.textContent);

  async function check(name, test) {
    let why;
    try {
      const result = await test();
      why = result === true ? null : `got ${JSON.stringify(result)}`;
    } catch (failure) {
      why = String(failure);
    }
    lines.push(why === null ? `ok - ${name}` : `not ok - ${name}: ${why}`);
  }
  const same = (a, b) => a === b || `${a} instead of ${b}`;

  const canvas = one('#gantt canvas');
  const gantt = one('#gantt');
  // The chart draws with the next frame, and a browser whose time is virtual has
  // none to wait for; a change of theme draws at once.
  const picture = () => {
    dispatchEvent(new Event('themechange'));
    return canvas.toDataURL();
  };
  const changes = (act) => {
    const before = picture();
    act();
    return picture() !== before || 'the picture stayed the same';
  };
  const key = (target, name) =>
    target.dispatchEvent(
      new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }),
    );
  const choose = (select, value) => {
    select.value = value;
    select.dispatchEvent(new Event('change'));
  };

  async function checkPage() {
    await check('the report is drawn', () => same(document.documentElement.dataset.ready, 'yes'));
    await check('no failure is shown', () => one('#failure').hidden);
    await check('the title is the trace', () =>
      same(one('h1').textContent, '<synthetic> & "quoted".csv'),
    );
    await check('the window title is text', () =>
      same(document.title, '<synthetic> & "quoted".csv · Trainyard simulation'),
    );
    await check('nothing is loaded', () =>
      same(performance.getEntriesByType('resource').length, 0),
    );
    await check('nothing reaches outside', () =>
      same(all('[src],link[href],a[href^="http"]').length, 0),
    );
    await check(
      'the page is not wider than the window',
      () =>
        document.documentElement.scrollWidth <= innerWidth ||
        `${document.documentElement.scrollWidth} > ${innerWidth}`,
    );
    await check('every id is there once', () => {
      const ids = all('[id]').map((node) => node.id);
      return same(new Set(ids).size, ids.length);
    });
    await check('every control has a name', () => {
      const bare = all('button, select, input, [role="img"], [tabindex="0"]').filter(
        (node) =>
          !node.textContent.trim() && !node.getAttribute('aria-label') && !node.closest('label'),
      );
      return same(bare.length, 0);
    });
  }

  async function checkHostileNames() {
    await check('names do not become elements', () =>
      same(all('#job-table b, #job-table script, body > b').length, 0),
    );
    await check('names are shown as they are', () => {
      const names = texts('#job-table .link');
      return (
        [
          "\x3c/script>\x3cscript>document.title='hacked'\x3c/script>",
          '\x3c!--\x3cscript>',
          "quote\" back\\slash 'single' &amp; <b>bold</b>",
          'line\\nfeed, tab\\t, bell\\u0007, escape\\u001b[31m',
          'invalid \ufffd\ufffd utf-8',
          'right \\u202e to left',
          'job 10',
        ]
          .filter((name) => !names.includes(name))
          .join(' | ') || true
      );
    });
    await check('a long name is cut', () =>
      texts('#job-table .link').some(
        (name) => name.startsWith('a-name-that') && name.endsWith('…'),
      ),
    );
  }

  async function checkPolicies() {
    await check('a row for each policy', () => same(all('#policies tbody tr').length, policies));
    await check('best values are marked', () =>
      same(all('#policies td.best').length > 0, policies > 1),
    );
    await check('a heading sorts', () => {
      const mean = () =>
        all('#policies tbody tr').map((row) => parseFloat(row.cells[1].title.replace(/,/g, '')));
      all('#policies th button')[1].click();
      const up = mean();
      all('#policies th button')[1].click();
      const down = mean();
      return (
        up.every((v, i) => !i || up[i - 1] <= v) && same(down.join(), [...up].reverse().join())
      );
    });
    await check('the sorted heading says so', () =>
      same(one('#policies th[aria-sort]').getAttribute('aria-sort'), 'descending'),
    );
    await check('fairness of each policy', () => {
      const at = (title) => texts('#policies th button').indexOf(title);
      const cells = (title) =>
        all('#policies tbody tr').map((row) => row.cells[at(title)].textContent);
      const worst = cells('Worst').filter((text) => /^\d+\.\d\d$/.test(text)).length;
      const unfair = cells('Unfair').filter((text) => /%$/.test(text)).length;
      return same(`${worst} ${unfair}`, `${policies} ${policies}`);
    });
    await check('a job that can never run is mentioned', () =>
      /1 job can never run on this cluster/.test(one('#summary-warn').textContent),
    );
    await check('deadlines of each policy', () => same(all('.meet').length, policies));
  }

  async function checkCharts() {
    for (const id of ['cdf', 'queue', 'used']) {
      await check(`${id} has a curve for each policy`, () =>
        same(all(`#${id} .curve`).length, policies),
      );
      await check(`${id} has only numbers`, () =>
        all(`#${id} path`).every((path) => !/NaN|Infinity|undefined/.test(path.getAttribute('d'))),
      );
      await check(`${id} has ticks on both axes`, () => all(`#${id} text`).length >= 6);
    }
    await check('each node has its jobs and its use', () =>
      same(all('#node-charts .curve').length, 2 * 16),
    );
    await check('nodes have only numbers', () =>
      all('#node-charts path').every((p) => !/NaN|Infinity|undefined/.test(p.getAttribute('d'))),
    );
    await check('a move is marked on both nodes', () => {
      const titles = texts('#node-charts .mark title');
      return (
        same(titles.filter((t) => /came from/.test(t)).length, 1) === true &&
        same(titles.filter((t) => /went to/.test(t)).length, 1)
      );
    });
    await check('the scale changes the ticks', () => {
      const before = texts('#cdf text').join();
      one('[data-scale="linear"]').click();
      const after = texts('#cdf text').join();
      one('[data-scale="log"]').click();
      return before !== after && same(texts('#cdf text').join(), before);
    });
    await check('the crosshair tells values', () => {
      const plot = one('#cdf .plot');
      const box = plot.getBoundingClientRect();
      plot.dispatchEvent(
        new PointerEvent('pointermove', {
          clientX: box.left + box.width / 2,
          clientY: box.top + 40,
        }),
      );
      const rows = all('#tip .row').length;
      plot.dispatchEvent(new PointerEvent('pointerleave'));
      return same(rows, policies) === true && one('#tip').hidden;
    });
    await check('the crosshair follows the keyboard', () => {
      const plot = one('#queue .plot');
      key(plot, 'ArrowRight');
      const shown = !one('#tip').hidden;
      key(plot, 'Escape');
      return shown && one('#tip').hidden;
    });
    if (policies < 2) return;
    await check('the legend hides a policy', () => {
      one('[data-legend] button').click();
      const left = all('#cdf .curve').length;
      one('[data-legend] button').click();
      return same(left, policies - 1);
    });
  }

  async function checkGantt() {
    await check('the chart has bars', () => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4)
        seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return seen.size > 5 || `${seen.size} colours`;
    });
    await check('the button zooms', () => changes(() => one('[data-zoom="in"]').click()));
    await check('drag moves', () =>
      changes(() => {
        const at = (type, x) =>
          gantt.dispatchEvent(
            new PointerEvent(type, { pointerId: 1, clientX: x, clientY: 300, bubbles: true }),
          );
        gantt.setPointerCapture = () => {};
        at('pointerdown', 300);
        for (let x = 300; x > 200; x -= 20) at('pointermove', x);
        at('pointerup', 200);
      }),
    );
    const turn = () =>
      gantt.dispatchEvent(
        new WheelEvent('wheel', {
          deltaY: -200,
          clientX: 300,
          clientY: 300,
          bubbles: true,
          cancelable: true,
        }),
      );
    await check('the wheel scrolls past an idle chart', () => {
      gantt.blur();
      return changes(turn) !== true;
    });
    await check('the wheel zooms once it has the focus', () => {
      gantt.focus({ preventScroll: true });
      return changes(turn);
    });
    await check('keys zoom', () => changes(() => key(gantt, '+')));
    await check('keys move', () => changes(() => key(gantt, 'ArrowRight')));
    await check('a key fits', () => changes(() => key(gantt, '0')));
    await check(
      'keys pick a job',
      () => changes(() => key(gantt, 'ArrowDown')) === true && one('#job h3').textContent !== '',
    );
    await check('the picked job is told under each policy', () =>
      same(all('#job tbody tr').length, policies),
    );
    await check('dark changes the picture', () =>
      changes(() => one('[data-theme="dark"]').click()),
    );
    await check('dark is dark', () =>
      same(getComputedStyle(document.body).backgroundColor, 'rgb(15, 18, 22)'),
    );
    one('[data-theme="light"]').click();
    if (policies > 1)
      await check('another policy is another picture', () =>
        changes(() => choose(one('#allocation select'), '1')),
      );
    if (policies > 1)
      await check('both selectors move together', () => same(one('#jobs select').value, '1'));
  }

  async function checkTable() {
    const rows = () => all('#job-table tbody tr').length;
    const filter = async (text) => {
      one('#filter').value = text;
      one('#filter').dispatchEvent(new Event('input'));
      await pause(400);
    };
    await check('a page of jobs', () => same(rows(), Math.min(100, jobs)));
    await check('the next page', () => {
      one('.pager [aria-label="Next page"]').click();
      return (
        same(rows(), Math.min(100, jobs - 100)) === true &&
        /^101–/.test(one('.pager span').textContent)
      );
    });
    await check('a filter by name', async () => {
      await filter('JOB-00042');
      return same(texts('#job-table .link').join(), 'job-00042');
    });
    await check('a filter by outcome', async () => {
      await filter('never runnable');
      return same(texts('#job-table .link').join(), 'job-00020');
    });
    await check('a filter that matches nothing', async () => {
      await filter('no such job');
      return same(rows(), 0) === true && same(one('.pager span').textContent, 'No job matches');
    });
    await filter('');
    await check('a heading sorts jobs', () => {
      const units = () =>
        all('#job-table tbody tr').map((row) => parseFloat(row.cells[2].textContent));
      const button = all('#job-table th button').find((b) => b.textContent === 'GPUs');
      button.click();
      all('#job-table th button')
        .find((b) => b.textContent === 'GPUs')
        .click();
      return units().every((v, i, list) => !i || list[i - 1] >= v) && same(units()[0], 128);
    });
    await check('a row leads to the chart', async () => {
      await filter('job-00044');
      const moved = changes(() => one('#job-table .link').click());
      return (
        moved === true &&
        same(one('#job h3').textContent, 'job-00044') === true &&
        same(document.activeElement, gantt)
      );
    });
  }

  async function checkEmpty() {
    await check('no finished job is said', () => /No job finished/.test(one('#cdf').textContent));
    await check(
      'figures that do not exist are dashes',
      () => texts('#policies tbody td').filter((t) => t === '–').length >= 7 * policies,
    );
    await check(
      'no figure is broken',
      () => !/NaN|Infinity|undefined|null/.test(one('main').textContent),
    );
    await check('all jobs are in the table', () => same(all('#job-table tbody tr').length, jobs));
  }

  await pause(200);
  await checkPage();
  if (expected.never) {
    await checkEmpty();
  } else {
    await checkHostileNames();
    await checkPolicies();
    await checkCharts();
    await checkGantt();
    await checkTable();
  }
  const pre = document.createElement('pre');
  pre.id = 'probe';
  pre.textContent = `\nPROBE\n${lines.join('\n')}\nEND\n`;
  document.body.append(pre);
})();
