import type { AnySkill } from '../agent/definition.ts';
import { isCompletion, isInterruption } from '../agent/errors.ts';
import { outputParts } from '../agent/output.ts';
import { ownParts } from '../agent/parts.ts';
import { isCodedError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { Message, Part } from '../model/message.ts';
import type { Ending } from '../model/run-decide.ts';
import type { AgentPolicy } from '../model/task-policy.ts';
import type { Grant } from '../store/contract.ts';
import { contentNotKept } from './artifact-writer.ts';
import type { Artifacts } from './artifacts.ts';
import { readableError, safeFailure } from './failure.ts';
import { agentMessage, type RunContext } from './run-context.ts';
import { shorten } from './status-writer.ts';

/** Our metadata key for the code of a failure. */
const CODE_KEY = 'https://holdfast.dev/a2a/v1/code';

/** The ending of a handler that returned. An output that its schema refuses is a failure like any other. */
export async function returnedEnding(
  context: RunContext,
  returned: { readonly value: unknown; readonly skill: AnySkill; readonly artifacts: Artifacts },
): Promise<Ending> {
  const { value, artifacts } = returned;
  const { emitter, grant } = context;
  if (isInterruption(value)) {
    const message = spoken(context, ['interrupted', grant.runNo], value);
    emitter.attach(await artifacts.closing());
    return { kind: 'interrupted', state: value.state, message };
  }
  if (isCompletion(value)) {
    const message = spoken(context, ['completed'], value);
    emitter.attach(await artifacts.closing());
    return { kind: 'succeeded', message };
  }
  const parts = await outputParts(returned.skill, value);
  emitter.attach(await artifacts.closing());
  if (parts.length > 0) await artifacts.writeResult(parts);
  return { kind: 'succeeded' };
}

function spoken(
  { grant, keepsContent }: RunContext,
  place: readonly (string | number)[],
  said: { readonly text: string; readonly data?: Json },
): Message {
  if (!keepsContent && said.text !== '') throw contentNotKept('The last word of the handler');
  const text: readonly Part[] = said.text === '' && said.data !== undefined ? [] : [textPart(said.text)];
  const data: readonly Part[] = said.data === undefined ? [] : [{ kind: 'data', data: said.data }];
  const parts = ownParts([...text, ...data], 'The last word of the handler');
  return agentMessage(grant, place, parts);
}

/** What the ending of a failed run needs to know; a run may fail before there is a turn. */
export interface FailureSource extends Pick<RunContext, 'parts' | 'grant' | 'log' | 'keepsContent'> {
  readonly policy: AgentPolicy;
}

/** The ending of a handler that threw. What it threw on purpose is for the client; anything else stays in the log. */
export function thrownEnding(source: FailureSource, thrown: unknown): Ending {
  const error = readableError(thrown);
  const name = error instanceof Error ? error.name : '';
  switch (name) {
    case 'Reject':
      return rejected(source, (error as Error).message);
    case 'Fail':
      return failed(source, error as Error, (error as { readonly code?: string }).code);
    case 'Expired':
      return failed(source, error as Error, 'expired');
    case 'Declined':
      return failed(source, error as Error, 'declined');
    default:
      return isCodedError(error) && error.code === 'invalid_argument'
        ? rejected(source, error.message.replace(' Nothing was stored.', ''))
        : unforeseen(source, error);
  }
}

function rejected({ grant, keepsContent }: FailureSource, text: string): Ending {
  const shown = keepsContent ? shorten(text) : 'The agent rejected this task.';
  return { kind: 'rejected', message: agentMessage(grant, ['rejected'], [textPart(shown)]) };
}

function failed(source: FailureSource, error: Error, code: string | undefined): Ending {
  const text = source.keepsContent ? shorten(error.message) : 'The agent failed.';
  source.log.info('agent ended its task as failed', { code, error });
  return { kind: 'failed', reason: code ?? 'failed', message: failureMessage(source.grant, text, code), retry: false };
}

function unforeseen(source: FailureSource, error: unknown): Ending {
  const { parts, log, policy } = source;
  const { code, text, errorId } = safeFailure(error, {
    newId: parts.newId,
    log,
    showErrors: parts.config.showErrors,
  });
  // What breaks a rule of the API breaks it in every run.
  const mayRetry = !(error instanceof Error && error.name === 'AgentCodeError');
  const known = code === 'internal' ? undefined : code;
  return {
    kind: 'failed',
    reason: `${code}, error id ${errorId}`,
    message: failureMessage(source.grant, text, known),
    errorId,
    retry: mayRetry && policy.onError === 'retry',
  };
}

function failureMessage(grant: Grant, text: string, code: string | undefined): Message {
  const message = agentMessage(grant, ['failed'], [textPart(text)]);
  return code === undefined ? message : { ...message, metadata: { [CODE_KEY]: code } };
}

function textPart(text: string): Part {
  return { kind: 'text', text };
}
