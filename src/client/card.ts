import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json } from '../base/json.ts';
import { decodeAgentCard, type RemoteCard } from '../protocol/v1/client-card.ts';
import { ClientError } from './client-error.ts';
import { type HttpSettings, readJson, request } from './http.ts';

const WELL_KNOWN = '/.well-known/agent-card.json';

/** A card as it came, and as it reads. */
export interface LoadedCard {
  readonly json: Json;
  readonly card: RemoteCard;
  /** Where it was found. */
  readonly from: string;
}

/**
 * The card that a reference names: a bare host or an origin (the well-known path is added), a URL of a card, or a local
 * file. A URL that is no card is tried once more with the well-known path, so that an agent's own root works too.
 */
export async function loadCard(
  settings: HttpSettings,
  reference: string,
  options: { readonly signal: AbortSignal; readonly cwd: string },
): Promise<LoadedCard> {
  const file = await fileOf(reference, options.cwd);
  if (file !== undefined) return readCard(await parseFile(file), file);
  const url = urlOf(reference);
  const isOrigin = url.pathname === '/' || url.pathname === '';
  const first = isOrigin ? new URL(WELL_KNOWN, url) : url;
  const found = await fetchCard(settings, first.href, options.signal);
  if (isCard(found.json) || isOrigin || first.pathname.endsWith('.json')) return cardOrRefusal(found, first.href);
  const second = first.href.replace(/\/*(\?.*)?$/, WELL_KNOWN);
  return cardOrRefusal(await fetchCard(settings, second, options.signal), second);
}

async function fileOf(reference: string, cwd: string): Promise<string | undefined> {
  if (reference.startsWith('file:')) return fileURLToPath(reference);
  if (/^https?:/i.test(reference)) return undefined;
  const file = path.resolve(cwd, reference);
  if (/^[./~]|\.json$/.test(reference)) return file;
  return (await stat(file).catch(() => undefined))?.isFile() === true ? file : undefined;
}

/** A host without a scheme is asked over TLS, one of this machine without. */
function urlOf(reference: string): URL {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/.test(reference);
  const text = /^https?:/i.test(reference) ? reference : `${isLocal ? 'http' : 'https'}://${reference}`;
  if (!URL.canParse(text)) throw new ClientError('card-not-found', `"${reference}" is no host, no URL and no file.`);
  return new URL(text);
}

async function parseFile(file: string): Promise<Json> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new ClientError('card-not-found', `The agent card ${file} cannot be read.`, { cause: error });
  });
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new ClientError('card-invalid', `The agent card ${file} is not JSON.`, { cause: error });
  }
}

interface Found {
  readonly status: number;
  readonly json: unknown;
}

async function fetchCard(settings: HttpSettings, url: string, signal: AbortSignal): Promise<Found> {
  const response = await request(settings, { method: 'GET', url, headers: { accept: 'application/json' }, signal });
  if (response.status === 401 || response.status === 403) {
    throw new ClientError('unauthenticated', `${url} wants credentials.`, { wireCode: response.status });
  }
  const json = await readJson(settings, response, url).catch((error: unknown) => {
    if (error instanceof ClientError && error.kind === 'lost') throw error;
    return undefined;
  });
  return { status: response.status, json: response.ok ? json : undefined };
}

function cardOrRefusal({ status, json }: Found, url: string): LoadedCard {
  if (status >= 300) throw new ClientError('card-not-found', `${url} answered HTTP ${status}.`, { wireCode: status });
  if (json === undefined) throw new ClientError('card-invalid', `${url} answered something that is not JSON.`);
  return readCard(json as Json, url);
}

function readCard(json: Json, from: string): LoadedCard {
  if (!isCard(json)) {
    throw new ClientError('card-invalid', `${from} is no agent card of A2A 1.0: it has no "supportedInterfaces".`);
  }
  return { json, card: decodeAgentCard(json), from };
}

function isCard(json: unknown): boolean {
  return isJsonObject(json) && (Array.isArray(json.supportedInterfaces) || Array.isArray(json.supported_interfaces));
}
