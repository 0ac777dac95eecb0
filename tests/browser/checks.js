// Checks and how they went, one a line, as tools/run-tests reads them.
'use strict';

let failures = 0;

async function check(name, test) {
  try {
    await test();
    console.log(`ok - ${name}`);
  } catch (failure) {
    failures++;
    console.log(`not ok - ${name}\n  ${String(failure.stack).split('\n').slice(0, 12).join('\n  ')}`);
  }
}

function expect(truth, what) {
  if (!truth) throw new Error(`not as expected: ${typeof what === 'string' ? what : JSON.stringify(what)}`);
}

const same = (got, want, what = '') =>
  expect(JSON.stringify(got) === JSON.stringify(want), `${what} got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);

// Ends with the status that says whether all were fine, whatever is still open.
const finish = () => process.exit(failures ? 1 : 0);

module.exports = { check, expect, same, finish };
