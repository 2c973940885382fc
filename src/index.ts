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
export type { Duration } from './base/duration.ts';
export type { Json, JsonObject } from './base/json.ts';
export type { Message, Part } from './model/message.ts';
