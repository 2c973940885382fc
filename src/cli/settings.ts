import { readFileSync } from 'node:fs';
import path from 'node:path';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';

/** Where a value came from, for `config show`. */
export type Source = 'flag' | 'environment' | 'default' | { readonly file: string };

interface Layer {
  readonly source: Exclude<Source, 'flag'>;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/**
 * Values that no flag gave: environment, then the local `.env` (or the file of `--config`), then
 * `~/.config/a2a-cli/.env`. Names are `A2ACLI_` and the long flag in upper snake case.
 */
export class Settings {
  readonly #layers: readonly Layer[];

  constructor(layers: readonly Layer[]) {
    this.#layers = layers;
  }

  find(option: string): { readonly value: string; readonly source: Exclude<Source, 'flag'> } | undefined {
    const name = variableOf(option);
    for (const { source, values } of this.#layers) {
      const value = values[name];
      if (value !== undefined && value !== '') return { value, source };
    }
    return undefined;
  }
}

function variableOf(option: string): string {
  return `A2ACLI_${option.replaceAll('-', '_').toUpperCase()}`;
}

export function loadSettings(io: Io, configFile: string | undefined): Settings {
  const local = configFile === undefined ? findLocal(io.cwd) : path.resolve(io.cwd, configFile);
  const global = path.join(io.home, '.config', 'a2a-cli', '.env');
  return new Settings([
    { source: 'environment', values: io.env },
    ...layerOf(local, configFile !== undefined),
    ...(local === global ? [] : layerOf(global, false)),
  ]);
}

function layerOf(file: string | undefined, isRequired: boolean): readonly Layer[] {
  if (file === undefined) return [];
  const text = read(file);
  if (text !== undefined) return [{ source: { file }, values: parseDotenv(text) }];
  if (isRequired) throw usageError(`The file of --config cannot be read: ${file}`);
  return [];
}

/** The nearest `.env` upwards from the working directory. */
function findLocal(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const file = path.join(folder, '.env');
    if (read(file) !== undefined) return file;
    if (folder === path.dirname(folder)) return undefined;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** `KEY=value` a line; `export` before it, quotes around the value and comments behind it are taken off. */
export function parseDotenv(text: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, rest = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const quoted = /^(["'])(.*?)\1\s*(?:#.*)?$/.exec(rest);
    values[name] = quoted?.[2] ?? rest.replace(/(^|\s+)#.*$/, '').trim();
  }
  return values;
}
