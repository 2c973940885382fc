import type { Clock } from '../base/clock.ts';
import { CodedError, type ErrorCode, errorCode } from '../base/errors.ts';
import type { NewId } from '../base/unique-id.ts';
import type { AgentName } from '../model/ids.ts';
import type { Principal, Scope } from '../model/scope.ts';
import type { Runtime, Secrets } from '../runtime/ports.ts';
import type { ScopedStore } from '../store/contract.ts';
import type { LargeTasks } from './large-tasks.ts';
import type { Call, Operations } from './operations.ts';

export type OperationName = keyof Operations;

/** What every verb is made from. */
export interface OperationParts {
  readonly runtime: Runtime;
  readonly store: (agent: AgentName, scope: Scope) => ScopedStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly permits: Permits;
  readonly meter: OperationMeter;
  readonly largeTasks: LargeTasks;
  /** Whether the stream of a send ends when the task asks for input. */
  readonly streamEndsAtInputRequired: boolean;
}

/** Whether a principal may call an operation at all. Which rows it then sees is the scope's business. */
export type Permits = (principal: Principal, operation: OperationName) => boolean;

export const permitsEverything: Permits = () => true;

/** Where operations are counted. */
interface OperationMeter {
  ended(operation: {
    readonly name: OperationName;
    readonly agent: string;
    readonly code: ErrorCode | 'ok';
    readonly durationMs: number;
  }): void;
  /** Streams that are open now: +1, −1. */
  streams(change: 1 | -1): void;
}

/** One verb of the product, free of bindings. */
export interface Verb<Params, Result> {
  /** Refuses what no run could make good. */
  validate?(parts: OperationParts, call: Call, params: Params): Promise<void> | void;
  run(parts: OperationParts, call: Call, params: Params): Promise<Result>;
}

/** The pipeline: authorize → validate → run → measure. A stream counts as run when it has begun. */
export function operation<Params, Result>(
  parts: OperationParts,
  name: OperationName,
  verb: Verb<Params, Result>,
): (call: Call, params: Params) => Promise<Result> {
  return async (call, params) => {
    const startedMs = parts.clock.monotonicMs();
    let code: ErrorCode | 'ok' = 'ok';
    try {
      authorize(parts, call, name);
      await verb.validate?.(parts, call, params);
      return await verb.run(parts, call, params);
    } catch (error) {
      code = errorCode(error);
      throw error;
    } finally {
      parts.meter.ended({ name, agent: call.agent.name, code, durationMs: parts.clock.monotonicMs() - startedMs });
    }
  };
}

function authorize(parts: OperationParts, call: Call, name: OperationName): void {
  if (parts.permits(call.caller.principal, name)) return;
  throw new CodedError('permission_denied', {
    message: `You may not call ${name} on agent "${call.agent.name}". Ask its operator for the permission.`,
    metadata: { operation: name },
  });
}
