import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { type ConfigInput, readConfig } from '../server/config.ts';
import { countOf, type Flags } from './client-options.ts';
import type { Io } from './io.ts';
import { StartError } from './start-error.ts';

export const DEFAULT_STORE = 'sqlite:data/holdfast.db';

/** Settings of a server from its flags and its `--config` file; flags win. */
export function serverSettings(io: Io, flags: Flags): ConfigInput {
  return { ...readConfigFile(io, flags.config), ...settingsOf(flags) };
}

/** The store an operator's command works on: the one that a server with the same flags and settings would use. */
export function storeOf(io: Io, flags: Flags): string {
  return absoluteStore(readConfig(serverSettings(io, flags), io.env).store ?? DEFAULT_STORE, io.cwd);
}

/** A path in a store is the user's: it counts from where the command was given. */
export function absoluteStore(store: string, cwd: string): string {
  return store.startsWith('sqlite:') ? `sqlite:${path.resolve(cwd, store.slice('sqlite:'.length))}` : store;
}

/** A store as it may be shown. */
export function withoutPassword(store: string): string {
  return store.replace(/(:\/\/[^:/@]*):[^@]*@/, '$1:…@');
}

function readConfigFile(io: Io, file: unknown): ConfigInput {
  if (typeof file !== 'string') return {};
  let text: string;
  try {
    text = readFileSync(path.resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new StartError(`The configuration ${file} cannot be read.`, { cause: error });
  }
  try {
    const settings: unknown = parse(text);
    return (settings ?? {}) as ConfigInput;
  } catch (error) {
    throw new StartError(
      `The configuration ${file} is neither YAML nor JSON: ${(error as Error).message.split('\n')[0]}`,
      {
        cause: error,
      },
    );
  }
}

/** Flags as settings; they win over the file, and the file over the environment. */
function settingsOf(flags: Flags): ConfigInput {
  const port = countOf('port', flags.port);
  const { host, store, publicUrl, cors, logLevel, defaultAgent, allowAnonymous } = flags;
  return {
    ...(typeof host === 'string' ? { host } : {}),
    ...(port === undefined ? {} : { port }),
    ...(typeof store === 'string' ? { store } : {}),
    ...(typeof publicUrl === 'string' ? { publicUrl } : {}),
    ...(typeof defaultAgent === 'string' ? { defaultAgent } : {}),
    ...(typeof logLevel === 'string' ? { logLevel: logLevel as NonNullable<ConfigInput['logLevel']> } : {}),
    ...(typeof cors === 'string' ? { cors: corsOf(cors) } : {}),
    ...(allowAnonymous === true ? { allowAnonymous: true } : {}),
  };
}

function corsOf(text: string): NonNullable<ConfigInput['cors']> {
  if (text === 'none' || text === 'any' || text === 'localhost') return text;
  return text.split(',').map((origin) => origin.trim());
}
