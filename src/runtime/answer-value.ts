import type { Schema } from '../agent/schema.ts';
import { slowText } from '../agent/slow-patterns.ts';
import { type Validation, validate } from '../agent/validate.ts';
import type { JournalEntry } from '../model/journal.ts';

export type AnswerValue =
  | { readonly ok: true; readonly value: unknown }
  /** For people: why the answer does not fit, as a sentence. */
  | { readonly ok: false; readonly reason: string };

const PATH = 'answer';

/**
 * What a recorded answer is to the handler. Without a schema it is text; data becomes its JSON text. With one it is
 * what the schema makes of it; text that it refuses is offered once more as the JSON that it may be ("42").
 */
export async function readAnswer(entry: JournalEntry, schema: Schema | undefined): Promise<AnswerValue> {
  const answer: unknown = JSON.parse(entry.result ?? 'null');
  if (schema === undefined) return { ok: true, value: typeof answer === 'string' ? answer : JSON.stringify(answer) };
  const checked = await checkedInTime(schema, answer);
  if (checked.ok) return checked;
  const parsed = typeof answer === 'string' ? parseJson(answer) : undefined;
  if (parsed !== undefined) {
    const again = await checkedInTime(schema, parsed.value);
    if (again.ok) return again;
  }
  const faults = checked.violations.map(({ field, description }) => `${nameOf(field)} ${description}`);
  return { ok: false, reason: `That answer does not fit: ${faults.join('; ')}.` };
}

/** The schema's word, unless a pattern of it would take hours with what the caller wrote. */
async function checkedInTime(schema: Schema, value: unknown): Promise<Validation> {
  const slow = slowText(schema, value, PATH);
  return slow === undefined ? await validate(schema, value, PATH) : { ok: false, violations: [slow] };
}

function nameOf(field: string): string {
  return field === PATH ? 'it' : field.slice(PATH.length).replace(/^\./, '');
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
