import type { Instant } from '../../base/clock.ts';
import type { NewEvent, StoredEvent } from '../../model/event.ts';
import type { Seq } from '../../model/ids.ts';
import type { Part } from '../../model/message.ts';

/**
 * A copy that nobody can change: values are copied once when they come in and given out as they are.
 * Keys without a value are left out, as a database would. Bytes cannot be frozen; see `withOwnBytes`.
 */
export function frozenCopy<Value>(value: Value): Value {
  return copyOf(value) as Value;
}

/** A frozen copy of an event in its place. */
export function frozenEvent(event: NewEvent, seq: Seq, at: Instant): StoredEvent {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(event)) {
    const inner = (event as Record<string, unknown>)[key];
    if (inner !== undefined) copy[key] = copyOf(inner);
  }
  copy.seq = seq;
  copy.at = at;
  return Object.freeze(copy) as StoredEvent;
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copyOf));
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    if (inner !== undefined) setOwn(copy, key, copyOf(inner));
  }
  return Object.freeze(copy);
}

/** The value, with copies of the bytes in it; a value without bytes is given back as it is. */
export function withOwnBytes<Value>(value: Value): Value {
  return ownBytesOf(value) as Value;
}

function ownBytesOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (Array.isArray(value)) {
    const items = value.map(ownBytesOf);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const own = ownBytesOf(inner);
    if (own === inner) continue;
    copy ??= { ...value };
    setOwn(copy, key, own);
  }
  return copy ?? value;
}

/** `copy['__proto__'] = …` would set a prototype; a client's key of that name is a key like any other. */
function setOwn(copy: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') copy[key] = value;
  else Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Whether an event carries bytes, which must be copied for each reader. */
export function holdsBytes(event: StoredEvent): boolean {
  const isRaw = (part: Part): boolean => part.kind === 'raw';
  if (event.kind === 'artifact-updated') return event.parts.some(isRaw);
  if (event.kind === 'message-received') return event.message.parts.some(isRaw);
  return event.kind === 'status-changed' && event.message?.parts.some(isRaw) === true;
}

/** About as many bytes as the value's JSON would have; never too small by more than escapes. */
export function roughBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (value instanceof Uint8Array) return Math.ceil((value.length * 4) / 3);
  let bytes = 2;
  for (const [key, inner] of Object.entries(value)) bytes += key.length + 4 + roughBytes(inner);
  return bytes;
}
