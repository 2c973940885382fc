import type { Json, JsonObject } from '../base/json.ts';

/** The operations of A2A, by their names in its service. */
export type Operation =
  | 'SendMessage'
  | 'SendStreamingMessage'
  | 'GetTask'
  | 'ListTasks'
  | 'CancelTask'
  | 'SubscribeToTask'
  | 'CreateTaskPushNotificationConfig'
  | 'GetTaskPushNotificationConfig'
  | 'ListTaskPushNotificationConfigs'
  | 'DeleteTaskPushNotificationConfig'
  | 'GetExtendedAgentCard';

/** One frame of a stream: a `StreamResponse` as it came, and the place to resume behind it. */
export interface Frame {
  readonly json: Json;
  readonly id?: string;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Resume behind this frame, where the server knows how. */
  readonly lastEventId?: string;
}

/** One binding of A2A to one agent. Both throw `ClientError`; a stream throws before its first frame what is wrong with the request. */
export interface Transport {
  readonly binding: string;
  call(operation: Operation, params: JsonObject, signal: AbortSignal): Promise<Json>;
  stream(operation: Operation, params: JsonObject, options: StreamOptions): Promise<AsyncIterable<Frame>>;
}
