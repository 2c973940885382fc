import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { describeStore } from './store-suite.ts';

describeStore('memory', {
  open: (test) => openMemoryStore({ clock: test.clock, random: test.random }),
  differs: { reopen: 'A store in memory is gone when it is closed.' },
});
