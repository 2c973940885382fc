/** What an agent's author and a server of one's own import as `holdfast`. */
export { defineAgent } from './agent/define-agent.ts';
export { type Agent, type PolicyOptions, type ReplySkill, reply, skill, type TaskSkill } from './agent/definition.ts';
export {
  AgentCodeError,
  authRequired,
  type Completion,
  completed,
  Declined,
  Expired,
  Fail,
  type Interruption,
  inputRequired,
  Reject,
  StepUnknown,
} from './agent/errors.ts';
export type { Schema } from './agent/schema.ts';
export type {
  ArtifactOptions,
  ArtifactWriter,
  AskOptions,
  AuthorizeRequest,
  BaseTurn,
  Chunk,
  FilePart,
  Memories,
  MemoryPassage,
  StepContext,
  StepOptions,
  TaskTurn,
} from './agent/turn.ts';
export { noAuthentication } from './auth/no-authentication.ts';
export type { Duration } from './base/duration.ts';
export { CodedError, type ErrorCode, type ErrorDetail, type FieldViolation } from './base/errors.ts';
export type { Json, JsonObject } from './base/json.ts';
export type { Logger } from './base/log.ts';
export type { HttpBinding, HttpRequest, HttpResponse } from './bindings/http/exchange.ts';
export type { Message, Part } from './model/message.ts';
export type { Caller, Principal, Scope } from './model/scope.ts';
export { createPinoLogger } from './observability/pino-logger.ts';
export type { Authenticator, Credentials } from './operations/authenticator.ts';
export type { ConfigInput } from './server/config.ts';
export { createHoldfast, type Holdfast, type HoldfastOptions } from './server/holdfast.ts';
