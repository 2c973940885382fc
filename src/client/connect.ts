import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { RemoteCard, RemoteInterface } from '../protocol/v1/client-card.ts';
import { ClientError } from './client-error.ts';
import type { HttpSettings } from './http.ts';
import { jsonRpcTransport } from './jsonrpc-transport.ts';
import { restTransport } from './rest-transport.ts';
import type { Transport } from './transport.ts';

/** The newest version that this client speaks. */
export const CLIENT_VERSION = '1.0';

const makers: Readonly<Record<string, typeof jsonRpcTransport>> = {
  JSONRPC: jsonRpcTransport,
  'HTTP+JSON': restTransport,
};

/** The spellings that people use for the names of the bindings. */
const SPELLINGS: Readonly<Record<string, string>> = {
  jsonrpc: 'JSONRPC',
  'json-rpc': 'JSONRPC',
  'http+json': 'HTTP+JSON',
  'http-json': 'HTTP+JSON',
  http: 'HTTP+JSON',
  rest: 'HTTP+JSON',
  grpc: 'GRPC',
};

/** The wire name of a binding, however it was spelled; undefined for one that A2A does not have. */
export function bindingNamed(text: string): string | undefined {
  return SPELLINGS[text.toLowerCase()];
}

/**
 * The binding a client uses: the first of its own preferences that the card offers too, else the first in the card's
 * order that it speaks (A2A 1.0 §8.3.2).
 */
export function chooseInterface(card: RemoteCard, preferences: readonly string[]): RemoteInterface {
  const usable = card.interfaces.filter(
    (face) => makers[face.binding] !== undefined && isVersion1(face.protocolVersion),
  );
  for (const preferred of preferences) {
    const match = usable.find((face) => face.binding === preferred);
    if (match !== undefined) return match;
  }
  const first = usable[0];
  if (first !== undefined) return first;
  const offered = card.interfaces.map((face) => `${face.binding} ${face.protocolVersion}`).join(', ') || 'nothing';
  throw new ClientError(
    'protocol',
    `The agent offers ${offered}; this client speaks JSONRPC and HTTP+JSON of A2A 1.0.`,
    {
      a2aName: 'VersionNotSupportedError',
    },
  );
}

function isVersion1(version: string): boolean {
  return version === '' || /^1(\.|$)/.test(version);
}

export function openTransport(settings: HttpSettings, face: RemoteInterface): Transport {
  const make = makers[face.binding];
  if (make === undefined) throw new ClientError('protocol', `This client does not speak ${face.binding}.`);
  return make(settings, { url: face.url, ...(face.tenant === undefined ? {} : { tenant: face.tenant }) });
}

export interface Credentials {
  readonly bearer?: string;
  readonly apiKey?: string;
}

/** Where an agent's declared schemes want the credentials of a request (A2A 1.0 §4.5.2, §7.3). */
export function placeCredentials(
  schemes: JsonObject,
  credentials: Credentials,
): { readonly headers: Readonly<Record<string, string>>; readonly query: Readonly<Record<string, string>> } {
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  if (credentials.bearer !== undefined) headers.authorization = `Bearer ${credentials.bearer}`;
  if (credentials.apiKey === undefined) return { headers, query };
  const scheme = Object.values(schemes)
    .map((entry) => (isJsonObject(entry) ? entry.apiKeySecurityScheme : undefined))
    .find(isJsonObject);
  const name = typeof scheme?.name === 'string' ? scheme.name : 'X-API-Key';
  if (scheme?.location === 'query') query[name] = credentials.apiKey;
  else if (scheme?.location === 'cookie') headers.cookie = `${name}=${encodeURIComponent(credentials.apiKey)}`;
  else headers[name.toLowerCase()] = credentials.apiKey;
  return { headers, query };
}
