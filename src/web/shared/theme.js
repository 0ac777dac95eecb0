// The theme, set before the first paint so that a dark page never flashes
// white. "auto" follows the system.
'use strict';

const theme = {
  system: matchMedia('(prefers-color-scheme: dark)'),
  chosen: 'auto',

  // A page from a file may have no storage: then the choice lasts as long as
  // the page.
  load() {
    try {
      this.chosen = localStorage.getItem('trainyard-theme') || 'auto';
    } catch {
      this.chosen = 'auto';
    }
    this.apply();
  },
  choose(name) {
    this.chosen = name;
    try {
      localStorage.setItem('trainyard-theme', name);
    } catch {
      // Not kept, see above.
    }
    this.apply();
  },
  apply(forced) {
    const name = forced || this.chosen;
    document.documentElement.classList.toggle(
      'dark',
      name === 'dark' || (name === 'auto' && this.system.matches),
    );
    dispatchEvent(new Event('themechange'));
  },
};

theme.load();
theme.system.addEventListener('change', () => theme.apply());
// Paper is white.
addEventListener('beforeprint', () => theme.apply('light'));
addEventListener('afterprint', () => theme.apply());
