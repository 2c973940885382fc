import { isCodedError } from '../base/errors.ts';

/** Something that keeps a server or an operator's command from starting, said in one line to whoever started it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** What keeps a server from starting, for people; undefined for what nobody foresaw. */
export function startFault(error: unknown): string | undefined {
  if (error instanceof StartError) return error.message;
  if (isCodedError(error) && error.code !== 'internal') return error.message;
  const { name, message, page } = error as {
    readonly name?: string;
    readonly message?: string;
    readonly page?: string;
  };
  return name === 'AgentCodeError' ? `${message}${page === undefined ? '' : `  → docs/errors/${page}.md`}` : undefined;
}
