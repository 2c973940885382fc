import { isCodedError } from '../base/errors.ts';
import { ClientError } from '../client/client-error.ts';
import { asCalled } from './program-name.ts';

/** The CLI's own failures, with their exit codes (a2a-cli specification, Appendix D). */
const EXIT_CODES = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_INTERNAL: 1,
} as const;
export type CliErrorCode = keyof typeof EXIT_CODES;

/** Ended by Ctrl-C, as a shell says it. */
export const EXIT_INTERRUPTED = 130;

/** A failure that the CLI owns, or an A2A error that a server reported, by its name. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly hint: string | undefined;
  readonly a2aCode: string | number | undefined;
  readonly exitCode: number;

  constructor(
    code: CliErrorCode | (string & {}),
    message: string,
    facts: {
      readonly hint?: string;
      readonly a2aCode?: string | number;
      readonly exitCode?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint;
    this.a2aCode = facts.a2aCode;
    this.exitCode = facts.exitCode ?? EXIT_CODES[code as CliErrorCode] ?? 1;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('A2ACLI_ERR_USAGE', message, hint === undefined ? {} : { hint });
}

/** Whatever was thrown, as an error with a code. `hasCredentials`: some were sent, so a refusal means that they are wrong. */
export function cliErrorOf(error: unknown, context: { readonly hasCredentials?: boolean } = {}): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ClientError) return ofClientError(error, context.hasCredentials === true);
  if (isCodedError(error)) {
    return new CliError('A2ACLI_ERR_INTERNAL', error.message, { a2aCode: error.code, cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new CliError('A2ACLI_ERR_INTERNAL', message, { cause: error });
}

function ofClientError(error: ClientError, hasCredentials: boolean): CliError {
  const { a2aName, wireCode } = error.facts;
  const facts = { cause: error, ...(wireCode === undefined ? {} : { a2aCode: wireCode }) };
  switch (error.kind) {
    case 'protocol':
    case 'forbidden':
      if (a2aName !== undefined) return new CliError(a2aName, error.message, { ...facts, ...hintFor(a2aName) });
      return new CliError('A2ACLI_ERR_INTERNAL', error.message, facts);
    case 'busy':
      return new CliError('A2ACLI_ERR_INTERNAL', error.message, { ...facts, hint: busyHint(error) });
    case 'unauthenticated':
      return hasCredentials
        ? new CliError('A2ACLI_ERR_AUTH_FAILED', error.message, {
            ...facts,
            hint: 'The credentials were refused: check --bearer or --api-key.',
          })
        : new CliError('A2ACLI_ERR_CREDENTIALS_MISSING', error.message, {
            ...facts,
            hint: 'Pass --bearer TOKEN or --api-key KEY, or set A2ACLI_BEARER or A2ACLI_API_KEY.',
          });
    case 'unreachable':
    case 'lost':
      return new CliError('A2ACLI_ERR_UNREACHABLE', error.message, {
        ...facts,
        hint: 'Is the agent running? `holdfast serve` starts one; -a URL names another.',
      });
    case 'card-not-found':
      return new CliError('A2ACLI_ERR_CARD_NOT_FOUND', error.message, {
        ...facts,
        hint: '-a takes a host, the URL of an agent card, or a file.',
      });
    case 'card-invalid':
      return new CliError('A2ACLI_ERR_CARD_INVALID', error.message, facts);
    default:
      return new CliError('A2ACLI_ERR_INTERNAL', error.message, facts);
  }
}

function busyHint(error: ClientError): string {
  const seconds = error.facts.retryAfterSeconds;
  return seconds === undefined ? 'Try again in a moment.' : `Try again in ${seconds} s.`;
}

const HINTS: Readonly<Record<string, string>> = {
  TaskNotFoundError: '`holdfast task list` shows the tasks that you may see. --debug shows what the server answered.',
  TaskNotCancelableError: '`holdfast task get TASK_ID` shows where the task stands.',
  UnsupportedOperationError: '--debug shows what the server answered.',
  InvalidParamsError: '--debug shows what was sent and what the server answered.',
  VersionNotSupportedError: '--a2a-version names another version; `holdfast card get` shows what the agent speaks.',
};

function hintFor(a2aName: string): { readonly hint?: string } {
  const hint = HINTS[a2aName];
  return hint === undefined ? {} : { hint };
}

/** The one shape of its own that the specification defines (Appendix B). */
export function errorEnvelope(error: CliError, program: string): string {
  const { code, message, a2aCode } = error;
  return JSON.stringify({ error: { code, message, hint: hintOf(error, program) ?? null, a2aCode: a2aCode ?? null } });
}

/** A failure for people: what happened, its code, what to do. */
export function errorText(error: CliError, program: string): string {
  const hint = hintOf(error, program);
  return `Error: ${oneLine(error.message)}\nCode: ${error.code}\n${hint === undefined ? '' : `Hint: ${hint}\n`}`;
}

/** What to do, with the words by which this program was called. */
function hintOf({ hint }: CliError, program: string): string | undefined {
  return hint === undefined ? undefined : asCalled(hint, program);
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
