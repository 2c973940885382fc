import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Timestamp, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { a2aEnumNames, a2aMessage } from './a2a-descriptor.ts';

/** What a request means, in plain values; `refused` when it means nothing. */
export type Reading = { readonly value: unknown } | { readonly refused: string };

interface WirePart {
  readonly content: { readonly case?: 'text' | 'raw' | 'url' | 'data'; readonly value?: unknown };
  readonly mediaType: string;
  readonly filename: string;
  readonly metadata?: unknown;
}

interface WireMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly role: number;
  readonly parts: readonly WirePart[];
  readonly metadata?: unknown;
  readonly extensions: readonly string[];
  readonly referenceTaskIds: readonly string[];
}

interface WirePush {
  readonly tenant: string;
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  readonly token: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
}

interface WireSend {
  readonly tenant: string;
  readonly message?: WireMessage;
  readonly configuration?: {
    readonly acceptedOutputModes: readonly string[];
    readonly taskPushNotificationConfig?: WirePush;
    readonly historyLength?: number;
    readonly returnImmediately: boolean;
  };
  readonly metadata?: unknown;
}

interface WireList {
  readonly tenant: string;
  readonly contextId: string;
  readonly status: number;
  readonly pageSize?: number;
  readonly pageToken: string;
  readonly historyLength?: number;
  readonly statusTimestampAfter?: Timestamp;
  readonly includeArtifacts?: boolean;
}

/** Reads a `SendMessageRequest` with protobuf's own JSON reader, then applies the rules of A2A that protobuf does not know. */
export function referenceSend(json: JsonValue): Reading {
  return reading('SendMessageRequest', json, (request: WireSend) => {
    const message = need(request.message, 'message');
    const { configuration } = request;
    return {
      tenant: request.tenant,
      message: messageOf(message),
      outputModes: atMost(configuration?.acceptedOutputModes ?? [], 64),
      returnImmediately: configuration?.returnImmediately ?? false,
      historyLength: notNegative(configuration?.historyLength),
      push: configuration?.taskPushNotificationConfig && pushOf(configuration.taskPushNotificationConfig),
      metadata: request.metadata,
    };
  });
}

/** Reads a `ListTasksRequest` likewise. */
export function referenceList(json: JsonValue): Reading {
  const status = (json as { readonly status?: unknown }).status;
  const known = typeof status !== 'string' || a2aEnumNames('TaskState').includes(status);
  return known ? readList(json) : { refused: 'protobuf would pass over an unknown name; a filter must not vanish' };
}

function readList(json: JsonValue): Reading {
  return reading('ListTasksRequest', json, (request: WireList) => {
    const { pageSize, statusTimestampAfter: from } = request;
    check(pageSize === undefined || (pageSize >= 1 && pageSize <= 100), 'pageSize');
    check(request.status >= 0 && request.status <= 8, 'status');
    return {
      tenant: request.tenant,
      contextId: id(request.contextId),
      status: request.status,
      pageSize,
      pageToken: request.pageToken,
      historyLength: notNegative(request.historyLength),
      fromMs: from && Number(from.seconds) * 1_000 + Math.ceil(from.nanos / 1_000_000),
      includeArtifacts: request.includeArtifacts ?? false,
    };
  });
}

function reading<Wire>(name: string, json: JsonValue, interpret: (message: Wire) => unknown): Reading {
  try {
    return { value: interpret(fromJson(a2aMessage(name), json, { ignoreUnknownFields: true }) as unknown as Wire) };
  } catch (error) {
    return { refused: String(error) };
  }
}

function messageOf(message: WireMessage): unknown {
  check(message.role === 1, 'role');
  check(message.parts.length >= 1 && message.parts.length <= 256, 'parts');
  return {
    messageId: need(id(message.messageId), 'messageId'),
    contextId: id(message.contextId),
    taskId: id(message.taskId),
    parts: message.parts.map(partOf),
    metadata: message.metadata,
    extensions: atMost(message.extensions, 64),
    references: atMost(message.referenceTaskIds, 64).map((text) => need(id(text), 'referenceTaskIds')),
  };
}

function partOf({ content, mediaType, filename, metadata }: WirePart): unknown {
  check(content.case !== undefined, 'content');
  check(content.case !== 'url' || content.value !== '', 'url');
  const isBytes = content.value instanceof Uint8Array;
  const bytes = isBytes ? Buffer.from(content.value as Uint8Array).toString('hex') : undefined;
  const value = content.case === 'data' ? toJson(ValueSchema, content.value as Value) : (bytes ?? content.value);
  return { kind: content.case, value, mediaType, filename, metadata };
}

function pushOf(push: WirePush): unknown {
  check(push.url !== '', 'url');
  check(push.authentication === undefined || push.authentication.scheme !== '', 'scheme');
  const { tenant, url, token, authentication } = push;
  return { tenant, url, token, id: id(push.id), taskId: id(push.taskId), ...plainAuthentication(authentication) };
}

function plainAuthentication(authentication: WirePush['authentication']): Readonly<Record<string, string>> {
  if (authentication === undefined) return {};
  return { scheme: authentication.scheme, credentials: authentication.credentials };
}

function id(text: string): string | undefined {
  if (text === '') return undefined;
  check(text.length <= 256 && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text), 'id');
  return text;
}

function notNegative(count: number | undefined): number | undefined {
  check(count === undefined || count >= 0, 'historyLength');
  return count;
}

function atMost(items: readonly string[], max: number): readonly string[] {
  check(items.length <= max, 'too many');
  return items;
}

function need<T>(value: T | undefined, name: string): T {
  check(value !== undefined, `${name} is required`);
  return value as T;
}

function check(condition: boolean, rule: string): void {
  if (!condition) throw new Error(rule);
}
