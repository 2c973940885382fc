import type { Logger } from '../base/log.ts';

/**
 * Goes on serving when a promise fails that an agent's code forgot to await. Node would end the process for it: with it
 * everybody's runs, and again at every start, for the run that forgot it begins anew. Whose promise it was nobody can
 * tell, so it is logged and nothing else.
 */
export function noteForgottenPromises(log: Logger): void {
  process.on('unhandledRejection', (error) => log.error('a promise that nobody awaits has failed', { error }));
}
