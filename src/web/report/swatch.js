// The colours and dashes by which the policies are told apart.
'use strict';

const policyColour = (index) => `var(--s${index % 8})`;
// The second eight policies are dashed, the third dotted.
const policyDash = (index) => [null, '7 4', '2 3'][Math.floor(index / 8) % 3];

function swatch(index) {
  return svg(
    'svg',
    { class: 'swatch', width: 22, height: 8, viewBox: '0 0 22 8', 'aria-hidden': 'true' },
    svg('line', {
      x1: 1,
      x2: 21,
      y1: 4,
      y2: 4,
      'stroke-width': 3,
      'stroke-linecap': 'round',
      style: `stroke:${policyColour(index)}`,
      'stroke-dasharray': policyDash(index),
    }),
  );
}
