import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { snakeOf } from './read.ts';

/**
 * Readers of what another server wrote: either spelling of a name, and an empty value for what is missing or of a wrong type.
 * A client shows what it understands; only a door refuses.
 */
export function field(json: unknown, name: string): unknown {
  return isJsonObject(json) ? (json[name] ?? json[snakeOf(name)] ?? undefined) : undefined;
}

export function text(json: unknown, name: string): string {
  const value = field(json, name);
  return typeof value === 'string' ? value : '';
}

export function flag(json: unknown, name: string): boolean {
  return field(json, name) === true;
}

export function count(json: unknown, name: string): number {
  const value = Number(field(json, name) ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
}

export function struct(json: unknown, name: string): JsonObject {
  const value = field(json, name);
  return isJsonObject(value) ? value : {};
}

export function list(json: unknown, name: string): readonly unknown[] {
  const value = field(json, name);
  return Array.isArray(value) ? value : [];
}

export function texts(json: unknown, name: string): readonly string[] {
  return list(json, name).filter((item) => typeof item === 'string');
}
