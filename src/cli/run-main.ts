import { EXIT_INTERRUPTED } from './cli-error.ts';
import { systemIo } from './io.ts';
import { runCli } from './program.ts';

/** The command line of this process: its arguments, its streams, its signals. */
export async function runMain(): Promise<void> {
  // A reader that has seen enough, such as `head`, closes the pipe.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  // Unheard it would be an exception that a server logs, to the same closed pipe, for ever.
  process.stderr.on('error', () => {});
  const interrupted = new AbortController();
  const { promise: first, resolve: onFirst } = Promise.withResolvers<string>();
  const { promise: second, resolve: onSecond } = Promise.withResolvers<void>();
  const stop = (signal: string) => {
    if (interrupted.signal.aborted) onSecond();
    else interrupted.abort(new Error(`stopped by ${signal}`));
    onFirst(signal);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // A command that does not end by itself ends with the second signal.
  second.then(() => setImmediate(() => process.exit(EXIT_INTERRUPTED)));
  process.exitCode = await runCli(process.argv.slice(2), systemIo(interrupted.signal), { first, second });
  process.off('SIGINT', stop);
  process.off('SIGTERM', stop);
}
