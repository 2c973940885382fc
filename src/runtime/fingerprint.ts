import { canonicalJson, type Json, type JsonObject } from '../base/json.ts';
import type { Message, Part } from '../model/message.ts';
import type { Fingerprint } from '../model/task-write.ts';
import { digestBytes } from './content-digest.ts';
import type { Secrets } from './ports.ts';

/** Grows when the recipe below changes; a stored fingerprint of another version can no longer be compared. */
const FINGERPRINT_VERSION = 1;

/** The keys that name a skill, in the order in which dispatch reads them. Only they count among all metadata. */
const SKILL_KEYS = ['https://holdfast.dev/a2a/v1/skillId', 'skillId', 'skill'] as const;

/**
 * What a message means, as a keyed digest: two messages with one id and one fingerprint are one message sent twice.
 * Bytes count by their digest, whether they came in hand or lie in a blob; other metadata, configuration and extensions do not count.
 */
export async function fingerprintOf(
  secrets: Secrets,
  request: { readonly message: Message; readonly metadata?: JsonObject },
): Promise<Fingerprint> {
  const { message } = request;
  const parts = message.parts.some(holdsBytes) ? await digestedParts(message.parts) : message.parts.map(plainPart);
  const meaning: Record<string, Json> = { role: message.role, parts };
  if (message.taskId !== undefined) meaning.taskId = message.taskId;
  if (message.contextId !== undefined) meaning.contextId = message.contextId;
  if (message.referenceTaskIds !== undefined && message.referenceTaskIds.length > 0)
    meaning.referenceTaskIds = message.referenceTaskIds;
  const skill = namedSkill(request);
  if (skill !== undefined) meaning.skill = skill;
  return { version: FINGERPRINT_VERSION, digest: secrets.hmac('fingerprint', canonicalJson(meaning)) };
}

/**
 * Whether a repeat says the same as the message that is known. One that another version of this code has digested
 * cannot be compared; it is taken for the same, since running a message twice is the worse mistake.
 */
export function isSameContent(known: Fingerprint, sent: Fingerprint): boolean {
  return known.version !== sent.version || known.digest === sent.digest;
}

/**
 * Where two lists of parts differ first, as a field path under `message`; undefined when they are equal or one of them
 * is not in the log any more.
 */
export async function differingPart(known: readonly Part[], sent: readonly Part[]): Promise<string | undefined> {
  if (known.some((part) => part.kind === 'withheld')) return undefined;
  const [before, after] = [await digestedParts(known), await digestedParts(sent)];
  const index = after.findIndex((part, at) => canonicalJson(part) !== canonicalJson(before[at] ?? null));
  if (index < 0) return before.length === after.length ? undefined : 'parts';
  if (before[index] === undefined) return 'parts';
  const keys = new Set([...Object.keys(after[index] as JsonObject), ...Object.keys(before[index] as JsonObject)]);
  const field = [...keys].find(
    (key) => canonicalJson(valueAt(after[index], key)) !== canonicalJson(valueAt(before[index], key)),
  );
  return field === undefined || field === 'kind' ? `parts[${index}]` : `parts[${index}].${field}`;
}

function valueAt(part: Json | undefined, key: string): Json {
  return ((part as JsonObject | undefined)?.[key] ?? null) as Json;
}

function namedSkill(request: { readonly message: Message; readonly metadata?: JsonObject }): Json | undefined {
  for (const key of SKILL_KEYS) {
    for (const holder of [request.message.metadata, request.metadata]) {
      const value = holder?.[key];
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

function holdsBytes(part: Part): boolean {
  return part.kind === 'raw' || part.kind === 'blob';
}

async function digestedParts(parts: readonly Part[]): Promise<readonly Json[]> {
  const digested: Json[] = [];
  for (const part of parts) {
    if (part.kind === 'raw') {
      const { kind: _, raw, ...common } = part;
      digested.push({ ...common, kind: 'raw', raw: await digestBytes(raw) });
    } else digested.push(plainPart(part));
  }
  return digested;
}

function plainPart(part: Part): Json {
  if (part.kind === 'blob') {
    const { blobNo: _, bytes: __, sha256, ...common } = part;
    return { ...common, kind: 'raw', raw: sha256 };
  }
  return part as unknown as Json;
}
