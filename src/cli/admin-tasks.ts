import { silentLogger } from '../base/log.ts';
import { openStore } from '../server/open-store.ts';
import type { Flags } from './client-options.ts';
import type { Io } from './io.ts';
import { storeOf } from './serve-settings.ts';

export async function listAllTasks(io: Io, flags: Flags): Promise<number> {
  const opened = await openStore(storeOf(io, flags), { clock: io.clock, logger: silentLogger, migrate: false });
  try {
    io.out(`${JSON.stringify(await opened.store.stats())}\n`);
    return 0;
  } finally {
    await opened.close();
  }
}
