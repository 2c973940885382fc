import type { Agent } from '../agent/definition.ts';
import { readInput } from '../agent/input.ts';
import type { BaseTurn, FilePart, Memories } from '../agent/turn.ts';
import type { Logger } from '../base/log.ts';
import { type Message, type Part, textOf } from '../model/message.ts';
import type { Caller } from '../model/scope.ts';
import { resolveParts } from './blobs.ts';
import type { RuntimeParts } from './ports.ts';

/** What every handler gets, of a task or of a reply. Throws `invalid_argument` when the skill refuses the message. */
export async function createBaseTurn(source: {
  readonly parts: RuntimeParts;
  readonly agent: Agent;
  readonly skillId: string;
  /** With its content, if the log keeps none. */
  readonly message: Message;
  readonly caller: Caller;
  readonly session: { readonly id: string; readonly threadId: string };
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly memories: Memories;
}): Promise<BaseTurn<unknown>> {
  const { message, caller } = source;
  return {
    input: await readInput(source.agent, source.skillId, message),
    text: textOf(message.parts),
    message,
    files: message.parts.flatMap((part) => filePart(source.parts, part)),
    principal: caller.principal,
    scope: caller.scope,
    session: source.session,
    signal: source.signal,
    log: source.log,
    memories: source.memories,
  };
}

function filePart({ store }: RuntimeParts, part: Part): readonly FilePart[] {
  if (part.kind !== 'raw' && part.kind !== 'blob' && part.kind !== 'url') return [];
  const { filename, mediaType, metadata } = part;
  return [
    {
      ...(filename === undefined ? {} : { name: filename }),
      ...(mediaType === undefined ? {} : { mediaType }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(part.kind === 'url' ? { url: part.url } : {}),
      async bytes() {
        if (part.kind === 'url') throw new TypeError(`The bytes of a url part are not fetched: ${part.url}`);
        const [whole] = await resolveParts(store, [part]);
        return (whole as { readonly raw: Uint8Array }).raw;
      },
    },
  ];
}
