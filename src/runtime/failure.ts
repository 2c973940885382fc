import type { Logger } from '../base/log.ts';
import type { NewId } from '../base/unique-id.ts';
import type { SafeFailure } from './ports.ts';
import { shorten } from './status-writer.ts';

/** Codes of what an author's code does wrong, by the page that explains it; other pages go by their own name. */
const PAGE_CODES: Readonly<Record<string, string>> = { output: 'invalid_agent_response' };

/**
 * What a client may know of an error: that there was one, and an id. The error itself goes to the log under that id;
 * with `showErrors` (development) its text goes to the client too.
 */
export function safeFailure(
  error: unknown,
  source: { readonly newId: NewId; readonly log: Logger; readonly showErrors: boolean },
): SafeFailure {
  const errorId = source.newId();
  const code = failureCode(error);
  source.log.error('agent failed', { errorId, code, error });
  const text = source.showErrors ? shownText(error, errorId) : `The agent failed. Error id: ${errorId}.`;
  return { code, text: shorten(text), errorId };
}

/**
 * What a handler threw, or an error in its place when reading it throws too (a proxy, a getter, no prototype): whoever
 * looks at it afterwards would fail in place of the run.
 */
export function readableError(thrown: unknown): unknown {
  try {
    const { name, message, stack, cause } = thrown instanceof Error ? thrown : new Error(String(thrown));
    `${name}${message}${stack}${typeof cause}`.at(0);
    return thrown;
  } catch {
    return new Error('What the handler threw cannot be read.');
  }
}

function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'internal';
  const { page, code } = error as Error & { readonly page?: unknown; readonly code?: unknown };
  if (error.name === 'AgentCodeError' && typeof page === 'string') return PAGE_CODES[page] ?? page;
  return error.name === 'CodedError' && typeof code === 'string' ? code : 'internal';
}

function shownText(error: unknown, errorId: string): string {
  const name = error instanceof Error && error.name !== 'Error' ? `${error.name}: ` : '';
  const text = error instanceof Error ? error.message : String(error);
  const { page } = (error ?? {}) as { readonly page?: unknown };
  const hint = typeof page === 'string' ? `  → docs/errors/${page}.md` : '';
  return `The agent failed: ${name}${text}${hint} (error id ${errorId})`;
}
