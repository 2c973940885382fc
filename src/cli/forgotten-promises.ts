import type { Logger } from '../base/log.ts';

/**
 * Goes on serving when a promise fails that an agent's code forgot to await, or when a listener or a timer of its throws.
 * Node would end the process for it: with it everybody's runs, and again at every start, for the run that did it begins
 * anew. Whose it was nobody can tell, so it is logged and nothing else. What must not be half done is a transaction.
 */
export function noteForgottenPromises(log: Logger): void {
  process.on('uncaughtException', (error) => log.error('something threw where nobody catches', { error }));
  process.on('unhandledRejection', (error) => log.error('a promise that nobody awaits has failed', { error }));
}
