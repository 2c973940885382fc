import { z } from 'zod';
import { CodedError } from '../base/errors.ts';

const DAY_SECS = 86_400;
const secs = (value: number, max = 365 * DAY_SECS) => z.number().min(0).max(max).default(value);
const positiveSecs = (value: number, max = DAY_SECS) => z.number().positive().max(max).default(value);

/** Every setting of a server, with its default. Names carry their unit; 0 means none where a limit may be absent. */
const configSchema = z.strictObject({
  defaultAgent: z.string().optional(),
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  host: z.string().min(1).optional(),
  port: z.number().int().min(0).max(65_535).optional(),
  store: z.string().min(1).optional(),
  allowAnonymous: z.boolean().default(false),
  cors: z.union([z.enum(['none', 'any', 'localhost']), z.array(z.string().min(1))]).default('none'),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default('info'),
  drainMaxSecs: secs(10, DAY_SECS),
  runs: z
    .strictObject({
      concurrency: z.number().int().min(1).max(10_000).default(100),
      idleMaxSecs: secs(3_600),
      totalMaxSecs: secs(0),
      interruptedMaxDays: z.number().min(0).max(3_650).default(30),
      queuedMaxSecs: secs(3_600),
      leaseSecs: positiveSecs(30),
      sweepSecs: positiveSecs(5),
      cancelGraceSecs: secs(2, DAY_SECS),
    })
    .prefault({}),
  a2a: z
    .strictObject({
      sendWaitMaxSecs: positiveSecs(300),
      subscribePollSecs: positiveSecs(1),
      streamEndsAtInputRequired: z.boolean().default(true),
      replyRetentionHours: z
        .number()
        .positive()
        .max(24 * 365)
        .default(24),
    })
    .prefault({}),
});

export type Config = z.output<typeof configSchema>;
/** What a program or a file may say; everything has a default. */
export type ConfigInput = z.input<typeof configSchema>;

const sections = ['runs', 'a2a'] as const;

/**
 * Reads settings: those that are given, in camelCase or snake_case, then `HOLDFAST_…` of the environment, then defaults.
 * Throws one line that names the key of each wrong value.
 */
export function readConfig(given: unknown, env: Readonly<Record<string, string | undefined>> = {}): Config {
  const merged = mergeSections(fromEnvironment(env), camelKeys(given ?? {}));
  const parsed = configSchema.safeParse(merged);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap(describeIssue);
  throw new CodedError('invalid_argument', { message: `Configuration: ${faults.join('; ')}.` });
}

/** The name of a setting in the environment: `runs.idleMaxSecs` → `HOLDFAST_RUNS_IDLE_MAX_SECS`. */
export function environmentName(path: readonly string[]): string {
  return `HOLDFAST_${path.map((key) => key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()).join('_')}`;
}

function describeIssue(issue: z.core.$ZodIssue): readonly string[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `there is no setting ${[...path, key].join('.')}`);
  }
  const name = path.join('.');
  return [`${name === '' ? 'the settings' : name}: ${issue.message}`];
}

function camelKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase()),
      camelKeys(item),
    ]),
  );
}

type Settings = Readonly<Record<string, unknown>>;

/** What was given wins over the environment, key by key. Anything but an object is left for the schema to refuse. */
function mergeSections(environment: Settings, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const merged: Record<string, unknown> = { ...environment, ...given };
  for (const section of sections) {
    const [fromEnv, own] = [environment[section], (given as Settings)[section]];
    if (fromEnv === undefined || (own !== undefined && (typeof own !== 'object' || own === null))) continue;
    merged[section] = { ...(fromEnv as object), ...(own as object | undefined) };
  }
  return merged;
}

function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Settings {
  const settings: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(configSchema.shape)) {
    const isSection = (sections as readonly string[]).includes(key);
    const value = isSection ? sectionFrom(env, key as (typeof sections)[number]) : readVariable(env, [key], schema);
    if (value !== undefined) settings[key] = value;
  }
  return settings;
}

function sectionFrom(
  env: Readonly<Record<string, string | undefined>>,
  section: (typeof sections)[number],
): Settings | undefined {
  const entries = Object.entries(configSchema.shape[section].unwrap().shape).flatMap(([key, schema]) => {
    const value = readVariable(env, [section, key], schema);
    return value === undefined ? [] : [[key, value] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The text of a variable as the kind of value its setting has; what is none stays text, and is refused under its name. */
function readVariable(
  env: Readonly<Record<string, string | undefined>>,
  path: readonly string[],
  schema: z.ZodType,
): unknown {
  const text = env[environmentName(path)];
  if (text === undefined || text === '') return undefined;
  if (schema.safeParse(text).success) return text;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return path[0] === 'cors' ? text.split(',').map((origin) => origin.trim()) : text;
}
