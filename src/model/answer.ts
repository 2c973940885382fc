import { formatInstant, type Instant } from '../base/clock.ts';
import type { FieldViolation } from '../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { checkFlat, checkText, coerceText } from './flat-schema.ts';
import type { Message, Part } from './message.ts';
import { type Question, questionParts } from './question.ts';

export type AnswerCheck =
  | { readonly kind: 'accepted'; readonly value: Json }
  | { readonly kind: 'declined' }
  /** A data part that breaks the schema: InvalidParams, nothing is stored, the question stays open. */
  | { readonly kind: 'refused'; readonly violations: readonly FieldViolation[] }
  /** Text that does not fit: kept in history, the question is asked again with the reason, no run starts. */
  | { readonly kind: 'unfit'; readonly reason: string; readonly questionParts: readonly Part[] };

/**
 * What a message means as the answer to an open question. A data part is taken strictly; it is the answer itself, or
 * `{ askId, action: "accept" | "decline", content }`. Text is parsed for a string, number, boolean or enum. A question that
 * is put again says when it expires as it did before.
 */
export function checkAnswer(
  question: Question,
  message: Message,
  expiry: { readonly dueAt?: Instant } = {},
): AnswerCheck {
  if (question.kind === 'authorize')
    return isDecline(message) ? { kind: 'declined' } : { kind: 'accepted', value: null };
  const index = message.parts.findIndex((part) => part.kind === 'data');
  const data = message.parts[index];
  if (data?.kind === 'data') return checkData(question, data.data, `message.parts[${index}].data`);
  return checkWords(question, message, expiry);
}

function isDecline(message: Message): boolean {
  return message.parts.some(
    (part) => part.kind === 'data' && isJsonObject(part.data) && part.data.action === 'decline',
  );
}

function checkData(question: Question, data: Json, path: string): AnswerCheck {
  const wrapped = isJsonObject(data) && data.askId === question.askId;
  const action = wrapped ? data.action : undefined;
  if (action === 'decline') return { kind: 'declined' };
  if (action !== undefined && action !== 'accept') {
    return { kind: 'refused', violations: [{ field: `${path}.action`, description: 'must be "accept" or "decline"' }] };
  }
  const hasContent = wrapped && Object.hasOwn(data, 'content');
  const value = hasContent ? (data.content as Json) : wrapped ? withoutAskId(data) : data;
  const at = hasContent ? `${path}.content` : path;
  if (question.schema === undefined) return { kind: 'accepted', value };
  const violations = checkFlat(question.schema, value, at);
  return violations.length === 0 ? { kind: 'accepted', value } : { kind: 'refused', violations };
}

function withoutAskId(data: JsonObject): Json {
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== 'askId' && key !== 'action'));
}

function checkWords(question: Question, message: Message, { dueAt }: { readonly dueAt?: Instant }): AnswerCheck {
  const text = message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
  if (question.schema === undefined) return { kind: 'accepted', value: text };
  const violations = checkText(question.schema, text);
  const value = coerceText(question.schema, text);
  if (value !== undefined && violations.length === 0) return { kind: 'accepted', value };
  const why = violations.map(({ field, description }) => `${field} ${description}`).join('; ');
  const again = questionParts(question, dueAt === undefined ? undefined : formatInstant(dueAt));
  return { kind: 'unfit', reason: `That answer does not fit: ${why}.`, questionParts: again };
}
