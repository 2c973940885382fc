import { z } from 'zod';
import { CodedError, errorCode, type FieldViolation, fieldErrors, isCodedError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { NewId } from '../../base/unique-id.ts';
import type { SendParams } from '../../operations/operations.ts';
import { decodeSendMessageRequest } from '../../protocol/v1/decode.ts';

import { sendParams } from '../a2a-calls.ts';

/** Our own key names the skill outright: what it holds must be one. */
const SKILL_ID_KEY = 'https://holdfast.dev/a2a/v1/skillId';

/** `POST /v1/sessions`. */
export const sessionBody = z.object({
  sessionId: z.string().min(1).max(limits.idCharsMax).optional().describe('A name of your own; made up when absent.'),
});

/** `POST /v1/tasks` and `POST /v1/sessions/{sessionId}/messages`. */
export const messageBody = z.object({
  text: z.string().optional().describe('The message as one text part.'),
  parts: z.array(z.unknown()).optional().describe('The message as A2A parts.'),
  message: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The message as A2A writes it, in place of the fields beside it.'),
  messageId: z.string().optional().describe('Repeating it repeats nothing. Made up when absent.'),
  taskId: z.string().optional().describe('Continues this task.'),
  sessionId: z.string().optional().describe('The conversation; opened when it is new.'),
  skill: z.string().optional().describe('The skill that takes it.'),
  metadata: z.record(z.string(), z.unknown()).optional(),
  returnImmediately: z.boolean().optional().describe('Answer once the message is stored.'),
  historyLength: z.number().int().min(0).optional(),
});

export type MessageBody = z.infer<typeof messageBody>;

/** Reads a body; none is an empty one. Throws InvalidParams that names every field. */
export function readBody<Body>(schema: z.ZodType<Body>, json: unknown): Body {
  const parsed = schema.safeParse(json ?? {});
  if (parsed.success) return parsed.data;
  throw fieldErrors(parsed.error.issues.map((issue) => ({ field: fieldOf(issue.path), description: issue.message })));
}

function fieldOf(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (at, key) => (typeof key === 'number' ? `${at}[${key}]` : `${at}.${String(key)}`),
    '',
  );
  return text === '' ? 'request' : text.replace(/^\./, '');
}

/** The send that a native body means, checked as any A2A message is. `sessionId` of the path must be the body's, if it has one. */
export function nativeSend(
  body: MessageBody,
  options: { readonly newId: NewId; readonly sessionId?: string },
): SendParams {
  const given = [body.text, body.parts, body.message].filter((content) => content !== undefined);
  if (given.length !== 1) {
    throw fieldErrors([{ field: 'text', description: 'send exactly one of text, parts and message' }]);
  }
  const sessionId = sameSession(options.sessionId, body.sessionId);
  const { historyLength } = body;
  const request = {
    message:
      body.message === undefined ? messageOf(body, { ...options, sessionId }) : inSession(body.message, sessionId),
    configuration: {
      returnImmediately: body.returnImmediately ?? false,
      ...(historyLength === undefined ? {} : { historyLength }),
    },
    ...(body.skill === undefined ? {} : { metadata: { [SKILL_ID_KEY]: body.skill } }),
  };
  return decoded(request, body.message === undefined);
}

function messageOf(
  body: MessageBody,
  { newId, sessionId }: { readonly newId: NewId; readonly sessionId: string | undefined },
): Record<string, unknown> {
  return {
    messageId: body.messageId ?? newId(),
    role: 'ROLE_USER',
    parts: body.parts ?? [{ text: body.text }],
    ...(sessionId === undefined ? {} : { contextId: sessionId }),
    ...(body.taskId === undefined ? {} : { taskId: body.taskId }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
  };
}

function inSession(message: Readonly<Record<string, unknown>>, sessionId: string | undefined): Record<string, unknown> {
  if (sessionId === undefined) return message;
  const own = message.contextId ?? message.context_id;
  if (own !== undefined && own !== sessionId) {
    throw fieldErrors([{ field: 'message.contextId', description: 'must be the session of the path' }]);
  }
  return { ...message, contextId: sessionId };
}

function sameSession(path: string | undefined, body: string | undefined): string | undefined {
  if (path === undefined || body === undefined || path === body) return path ?? body;
  throw fieldErrors([{ field: 'sessionId', description: 'must be the session of the path' }]);
}

/** Where the message was put together here, its faults are named as the caller wrote it. */
function decoded(request: Json | unknown, isOurs: boolean): SendParams {
  try {
    return sendParams(decodeSendMessageRequest(request));
  } catch (error) {
    if (!isOurs || !isCodedError(error) || errorCode(error) !== 'invalid_argument') throw error;
    throw new CodedError('invalid_argument', fieldErrors((error.detail.violations ?? []).map(asWritten)).detail);
  }
}

const nativeNames: Readonly<Record<string, string>> = { contextId: 'sessionId' };

function asWritten({ field, description }: FieldViolation): FieldViolation {
  const name = field.replace(/^(message|configuration)\./, '');
  return { field: nativeNames[name] ?? name, description };
}
