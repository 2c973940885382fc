import { createPinoLogger } from '../observability/pino-logger.ts';
import { readConfig } from '../server/config.ts';
import { createHoldfast, type Holdfast } from '../server/holdfast.ts';
import type { Flags } from './client-options.ts';
import { noteForgottenPromises } from './forgotten-promises.ts';
import type { Io } from './io.ts';
import { loadAgent, type ServedAgent } from './load-agent.ts';
import { absoluteStore, DEFAULT_STORE, serverSettings, withoutPassword } from './serve-settings.ts';
import { StartLog } from './start-log.ts';

/** What stops a server: the first signal drains, the second does not wait. */
export interface Stops {
  /** Resolves with the name of the first signal. */
  readonly first: Promise<string>;
  /** Resolves when one more came. */
  readonly second: Promise<void>;
}

/** `serve`: runs until it is told to stop. Resolves with the exit code. */
export async function serve(
  io: Io,
  { files, flags, stops }: { readonly files: readonly string[]; readonly flags: Flags; readonly stops: Stops },
): Promise<number> {
  const log = new StartLog(io);
  try {
    const holdfast = await start(io, { files, flags, log });
    log.release();
    return await untilStopped(io, holdfast, stops);
  } catch (error) {
    log.drop();
    throw error;
  }
}

async function start(
  io: Io,
  { files, flags, log }: { readonly files: readonly string[]; readonly flags: Flags; readonly log: StartLog },
): Promise<Holdfast> {
  const settings = serverSettings(io, flags);
  const config = readConfig(settings, io.env);
  const agents = await agentsOf(io, files);
  const store = config.store ?? DEFAULT_STORE;
  const logger = createPinoLogger({ level: config.logLevel, destination: log });
  noteForgottenPromises(logger);
  const holdfast = await createHoldfast({
    agents,
    store: absoluteStore(store, io.cwd),
    config: settings,
    env: io.env,
    logger,
    ...(flags.migrate === false ? { migrate: false } : {}),
  });
  try {
    io.out(banner(holdfast, { ...(await holdfast.listen()), store }));
    return holdfast;
  } catch (error) {
    await holdfast.close(0);
    throw error;
  }
}

async function untilStopped(io: Io, holdfast: Holdfast, stops: Stops): Promise<number> {
  const signal = await stops.first;
  io.err(`holdfast stops on ${signal}: runs get ${holdfast.config.drainMaxSecs} s to end. Once more stops at once.\n`);
  const drained = holdfast.close().then(() => 'drained' as const);
  const outcome = await Promise.race([drained, stops.second.then(() => 'at once' as const)]);
  return outcome === 'drained' ? 0 : EXIT_AT_ONCE;
}

/** As a shell says of a process that a signal ended. */
const EXIT_AT_ONCE = 130;

async function agentsOf(io: Io, files: readonly string[]): Promise<readonly ServedAgent[]> {
  if (files.length === 0) return [(await import('../../agents/demo.ts')).default];
  const agents: ServedAgent[] = [];
  for (const file of files) agents.push(await loadAgent(file, io.cwd));
  return agents;
}

/** The first line is for programs; the others are for people. */
function banner(
  holdfast: Holdfast,
  { url, localUrl, store }: { readonly url: string; readonly localUrl: string; readonly store: string },
): string {
  const { agents, authenticator, config } = holdfast;
  const first = agents.find((agent) => agent.name === config.defaultAgent) ?? agents[0];
  const others = agents.filter((agent) => agent !== first);
  const isOpen = authenticator.name === 'none';
  const access = isOpen
    ? `nobody is asked who they are; ${config.allowAnonymous ? 'anybody may call' : 'only this machine may call'}`
    : authenticator.name;
  return [
    `holdfast listening on ${localUrl}`,
    `  card    ${url}/.well-known/agent-card.json (${first?.name})`,
    ...others.map((agent) => `          ${url}/agents/${agent.name}/.well-known/agent-card.json`),
    `  doors   ${url}/a2a/jsonrpc · ${url}/a2a/v1 · ${url}/v1`,
    `  data    ${withoutPassword(store)}`,
    `  access  ${access}`,
    '',
  ].join('\n');
}
