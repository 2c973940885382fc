import { pushNotSupported } from './check-message.ts';
import type { Verb } from './verb.ts';

/** Creating, reading, listing and deleting push configs: the card says that there are none. */
export const pushConfig: Verb<void, never> = {
  async run() {
    throw pushNotSupported();
  },
};
