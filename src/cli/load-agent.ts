import { existsSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HoldfastOptions } from '../server/holdfast.ts';
import { StartError, startFault } from './start-error.ts';

export type ServedAgent = HoldfastOptions['agents'][number];

/**
 * The default export of an agent file. The project's own `tsx` loads it when it is there, for plain type stripping fails on
 * common forms of import; else Node does. What is wrong with the file is one clear line.
 */
export async function loadAgent(file: string, cwd: string): Promise<ServedAgent> {
  const full = path.resolve(cwd, file);
  const name = path.relative(cwd, full).startsWith('..') ? full : path.relative(cwd, full);
  if (!existsSync(full)) throw new StartError(`${name} does not exist.`);
  const hasTsx = /\.[cm]?tsx?$/.test(full) && (await registerTsx(full));
  nameThisHoldfast();
  const loaded = await importFile(full, name, hasTsx);
  const agent = unwrapped(loaded.default);
  if (isAgent(agent)) return agent;
  throw new StartError(
    loaded.default === undefined
      ? `${name} has no default export. Holdfast expects \`export default defineAgent({ … })\`.`
      : `The default export of ${name} is no agent. Holdfast expects \`export default defineAgent({ … })\`.`,
  );
}

async function importFile(full: string, name: string, hasTsx: boolean): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(full).href)) as { readonly default?: unknown };
  } catch (error) {
    throw new StartError(loadFault(error, name, hasTsx), { cause: error });
  }
}

/** A CommonJS project hands its default export over inside an object. */
function unwrapped(value: unknown): unknown {
  const isWrapped = typeof value === 'object' && value !== null && 'default' in value && !isAgent(value);
  return isWrapped ? value.default : value;
}

function isAgent(value: unknown): value is ServedAgent {
  if (typeof value !== 'object' || value === null) return false;
  const { name, skills } = value as { readonly name?: unknown; readonly skills?: unknown };
  return typeof name === 'string' && typeof skills === 'object' && skills !== null;
}

let isNamed = false;

/**
 * `holdfast`, imported by an agent file, is the one that serves it: in a checkout that was never built, beside a global
 * installation, and never a second copy of another version.
 */
function nameThisHoldfast(): void {
  if (isNamed) return;
  isNamed = true;
  const url = new URL(`../index${path.extname(import.meta.url)}`, import.meta.url).href;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'holdfast' ? { url, shortCircuit: true } : next(specifier, context),
  });
}

let isRegistered = false;

/** Looks for `tsx` from the agent's own folder, as its project would. */
async function registerTsx(file: string): Promise<boolean> {
  if (isRegistered) return true;
  const require = createRequire(file);
  let found: string;
  try {
    found = require.resolve('tsx/esm/api');
  } catch {
    return false;
  }
  const { register } = (await import(pathToFileURL(found).href)) as { readonly register: () => unknown };
  register();
  isRegistered = true;
  return true;
}

/** Node's own words name a path and a code; these say what to do about it. */
function loadFault(error: unknown, name: string, hasTsx: boolean): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  const text = String(message ?? error);
  const rule = startFault(error);
  if (rule !== undefined) return `${name}: ${rule}`;
  if (hasTsx) return `${name} could not be loaded: ${text}`;
  const missing = /Cannot find module '([^']+)' imported from (.+)$/m.exec(text);
  const isOwnFile = missing?.[1] !== undefined && path.isAbsolute(missing[1]);
  if (
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'ERR_UNSUPPORTED_DIR_IMPORT') &&
    isOwnFile &&
    missing?.[2]?.endsWith('ts') === true
  ) {
    const importer = path.basename(missing[2] ?? name);
    return `${importer} imports "${specifierOf(missing)}", which Node cannot find: Node runs TypeScript without resolving extensions.${INSTALL}`;
  }
  if (code === 'ERR_INVALID_TYPESCRIPT_SYNTAX') return `${name} has a syntax error: ${text.split('\n')[0]}.`;
  if (/^Cannot use import statement outside a module|^Unexpected token 'export'/.test(text)) {
    return `${name} is an ES module, and its package.json says "type": "commonjs".  → npm pkg set type=module`;
  }
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return `${name} uses TypeScript that Node does not run by itself: ${text.split('\n')[0]?.replace(/\.$/, '')}.${INSTALL}`;
  }
  return `${name} could not be loaded: ${text}`;
}

const INSTALL = '  → npm i -D tsx   (holdfast uses it when it is there)';

/** Node says the resolved path; the importing file says it relative to itself. */
function specifierOf(missing: RegExpExecArray): string {
  const [, target = '', importer = ''] = missing;
  const relative = path.relative(path.dirname(importer), target).replaceAll(path.sep, '/');
  return relative.startsWith('.') ? relative : `./${relative}`;
}
