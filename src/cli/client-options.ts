import { type Command, Option } from 'commander';
import { type Duration, durationMs } from '../base/duration.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { bindingNamed } from '../client/connect.ts';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';
import { loadSettings, type Settings, type Source } from './settings.ts';

export const DEFAULT_AGENT = 'http://127.0.0.1:4000';
const DEFAULT_POLL_MS = 2_000;

/** Flags of a command as commander read them: only those that were given. */
export type Flags = Readonly<Record<string, unknown>>;

/** Options of every command that talks to an agent, resolved over flag, environment, files and default. */
export interface ClientOptions {
  /** The words that call this program. */
  readonly program: string;
  readonly agentCard: string;
  readonly output: 'text' | 'json';
  readonly stream: boolean;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly insecure: boolean;
  readonly version: string | undefined;
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
  readonly serviceParams: Readonly<Record<string, string>>;
  readonly transports: readonly string[];
  readonly pollMs: number;
  readonly timeoutMs: number | undefined;
  readonly isAsync: boolean;
  readonly wait: boolean;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  readonly metadata: JsonObject | undefined;
  readonly skill: string | undefined;
}

/** What is common to all client commands; `config show` lists these. */
export const COMMON_OPTIONS = [
  'agent-card',
  'output',
  'a2a-version',
  'bearer',
  'api-key',
  'svc-param',
  'transport',
  'insecure',
  'debug',
  'verbose',
  'timeout',
  'poll-interval',
  'async',
  'wait',
  'context-id',
  'task-id',
  'metadata',
  'skill',
] as const;

export function addClientOptions(command: Command): Command {
  return command
    .option('-a, --agent-card <ref>', `the agent: a host, the URL of its card, or a file (default: ${DEFAULT_AGENT})`)
    .option('-o, --output <text|json>', "format: text, or json with the protocol's own types (default: text)")
    .option('--a2a-version <version>', 'protocol version to signal (default: 1.0)')
    .option('--bearer <token>', 'bearer token of the request')
    .option('--api-key <key>', 'API key of the request')
    .option('--svc-param <k:v>', 'a service parameter, sent as an HTTP header; repeatable', collect)
    .option('--transport <binding>', 'JSONRPC or HTTP+JSON; repeatable, highest preference first', collect)
    .option('--timeout <duration>', 'give up after this long, such as 30s or 5m (default: never)')
    .option('--config <path>', 'a .env file in place of the local one')
    .option('--insecure', 'do not verify TLS certificates; for development only')
    .option('--verbose', 'show all that was exchanged with the agent')
    .option('--debug', 'log requests and answers to stderr, without credentials');
}

export function addWaitOptions(command: Command): Command {
  return command
    .addOption(new Option('--wait', 'wait until the task has ended or needs you'))
    .addOption(new Option('--watch', 'alias of --wait').hideHelp())
    .option('--poll-interval <duration>', 'how often to look at the task while waiting (default: 2s)');
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** The one place where the order flag, environment, file, default is kept. */
export class Resolver {
  readonly #flags: Flags;
  readonly #settings: Settings;

  constructor(io: Io, flags: Flags) {
    this.#flags = flags;
    this.#settings = loadSettings(io, typeof flags.config === 'string' ? flags.config : undefined);
  }

  text(option: string): { readonly value: string | undefined; readonly source: Source } {
    const flag = this.#flags[camel(option)];
    if (typeof flag === 'string') return { value: flag, source: 'flag' };
    return this.#settings.find(option) ?? { value: undefined, source: 'default' };
  }

  flag(option: string, ...aliases: readonly string[]): { readonly value: boolean; readonly source: Source } {
    const given = [option, ...aliases]
      .map((name) => this.#flags[camel(name)])
      .find((value) => typeof value === 'boolean');
    if (typeof given === 'boolean') return { value: given, source: 'flag' };
    const found = this.#settings.find(option);
    if (found === undefined) return { value: false, source: 'default' };
    return { value: !/^(0|false|no|off)$/i.test(found.value), source: found.source };
  }

  list(option: string): { readonly value: readonly string[]; readonly source: Source } {
    const flag = this.#flags[camel(option)];
    if (Array.isArray(flag)) return { value: flag as readonly string[], source: 'flag' };
    const found = this.#settings.find(option);
    if (found === undefined) return { value: [], source: 'default' };
    return { value: found.value.split(',').map((item) => item.trim()), source: found.source };
  }
}

function camel(option: string): string {
  return option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Throws a usage error for the first option that cannot be meant. */
export function resolveOptions(io: Io, flags: Flags): ClientOptions {
  const from = new Resolver(io, flags);
  const timeout = from.text('timeout').value;
  const metadata = from.text('metadata').value;
  return {
    program: io.program,
    agentCard: from.text('agent-card').value ?? DEFAULT_AGENT,
    output: outputOf(from.text('output').value),
    stream: flags.stream === true,
    verbose: from.flag('verbose').value,
    debug: from.flag('debug').value,
    insecure: from.flag('insecure').value,
    version: from.text('a2a-version').value,
    bearer: from.text('bearer').value,
    apiKey: from.text('api-key').value,
    serviceParams: serviceParamsOf(from.list('svc-param').value),
    transports: from.list('transport').value.map(transportOf),
    pollMs: durationOf('poll-interval', from.text('poll-interval').value) ?? DEFAULT_POLL_MS,
    timeoutMs: durationOf('timeout', timeout),
    ...waiting(from),
    contextId: from.text('context-id').value,
    taskId: from.text('task-id').value,
    metadata: metadata === undefined ? undefined : jsonObjectOf('metadata', metadata),
    skill: from.text('skill').value,
  };
}

/** A flag of the two overrides whatever the environment says of the other. */
function waiting(from: Resolver): { readonly isAsync: boolean; readonly wait: boolean } {
  const isAsync = from.flag('async', 'return-immediately');
  const wait = from.flag('wait', 'watch');
  const refusesToWait = wait.source === 'flag' && !wait.value;
  if (wait.source === 'flag' && wait.value && isAsync.source === 'flag' && isAsync.value) {
    throw usageError('--wait and --async cannot both be meant.');
  }
  const overridden = wait.source === 'flag' && wait.value;
  return { isAsync: refusesToWait || (isAsync.value && !overridden), wait: wait.value };
}

function outputOf(text: string | undefined): 'text' | 'json' {
  if (text === undefined || text === 'text') return 'text';
  if (text === 'json') return 'json';
  throw usageError(`--output is text or json, not "${text}".`);
}

function transportOf(text: string): string {
  const binding = bindingNamed(text);
  if (binding === undefined) throw usageError(`--transport is JSONRPC, HTTP+JSON or GRPC, not "${text}".`);
  return binding;
}

function serviceParamsOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*[:=]\s*(.*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined) throw usageError(`--svc-param is NAME:VALUE, not "${pair}".`);
      return [name.toLowerCase(), value];
    }),
  );
}

/** `500ms`, `2s`, `5m`, `1h`; a bare number is seconds. */
function durationOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  try {
    const ms = durationMs((/[a-z]$/.test(trimmed) ? trimmed : `${trimmed}s`) as Duration);
    if (ms > 0) return ms;
  } catch {
    // the usage error says it better
  }
  throw usageError(`--${option} is a duration such as 500ms, 2s or 5m, not "${text}".`);
}

function jsonObjectOf(option: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usageError(`--${option} is a JSON object, such as '{"k":"v"}'.`);
  }
  if (!isJsonObject(value)) throw usageError(`--${option} is a JSON object, such as '{"k":"v"}'.`);
  return value;
}

export function countOf(option: string, text: unknown): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(`--${option} is a whole number, not "${String(text)}".`);
}
