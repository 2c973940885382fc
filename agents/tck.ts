import type { Completion, Interruption, Message } from '../src/index.ts';
import {
  authRequired,
  type Chunk,
  completed,
  defineAgent,
  inputRequired,
  Reject,
  reply,
  skill,
  type TaskTurn,
} from '../src/index.ts';

type Outcome = Interruption | Completion | undefined;
type Behaviour = (turn: TaskTurn<string>) => Outcome | Promise<Outcome>;

const file = { filename: 'output.txt', mediaType: 'text/plain' };

/** What A2A's compatibility kit expects of an agent, by the beginning of the message's id. */
const behaviours: Readonly<Record<string, Behaviour>> = {
  'tck-complete-task': () => completed('Hello from TCK'),
  'tck-input-required': () => inputRequired('Input is required to go on.'),
  'tck-auth-required': () => authRequired('Authentication is required to go on.'),
  'tck-reject-task': () => {
    throw new Reject('This task is rejected on purpose.');
  },
  'tck-artifact-text': produces('Generated text content'),
  'tck-artifact-file': produces([{ kind: 'raw', raw: new TextEncoder().encode('tck'), ...file }]),
  'tck-artifact-file-url': produces([{ kind: 'url', url: 'https://example.com/output.txt', ...file }]),
  'tck-artifact-data': produces({ data: { key: 'value', count: 42 } }),
  'tck-stream-001': produces('Stream hello from TCK'),
  'tck-stream-003': produces('Stream task lifecycle'),
  'tck-stream-ordering-001': produces('Ordered output'),
  'tck-stream-artifact-chunked': produces('chunk-1 ', 'chunk-2'),
  'tck-delayed-complete': async (turn) => {
    await turn.sleep('2s');
    return completed('Done after delay');
  },
};

const MESSAGE_RESPONSE = 'tck-message-response';
const prefixes = [MESSAGE_RESPONSE, ...Object.keys(behaviours)].sort((a, b) => b.length - a.length);

/** The longest prefix that the id of a message begins with; undefined for an id of another kind. */
export function prefixOf(messageId: string): string | undefined {
  return prefixes.find((prefix) => messageId.startsWith(prefix));
}

function produces(...chunks: readonly Chunk[]): Behaviour {
  return async (turn) => {
    const artifact = turn.artifact('output');
    for (const [index, chunk] of chunks.entries()) await artifact.append(chunk, { last: index === chunks.length - 1 });
    return undefined;
  };
}

/** A follow-up completes whatever its id begins with: the task was interrupted, and now it has what it waited for. */
function run(turn: TaskTurn<string>): ReturnType<Behaviour> {
  if (turn.history.length > 0) return undefined;
  return behaviours[prefixOf(turn.message.messageId) ?? '']?.(turn);
}

export default defineAgent({
  name: 'tck',
  description: "Behaves as A2A's Technology Compatibility Kit asks by the id of each message.",
  policy: { idempotency: 'off' },
  dispatch: ({ messageId }: Message) => (prefixOf(messageId) === MESSAGE_RESPONSE ? 'message' : 'task'),
  skills: {
    task: skill({
      title: 'Tasks of the kit',
      description: 'A task that ends, waits or hands out artifacts as the prefix of the message id says.',
      tags: ['tck'],
      run,
    }),
    message: reply({
      title: 'A direct reply',
      description: `Answers a Message for ids that begin with ${MESSAGE_RESPONSE}.`,
      tags: ['tck'],
      effect: 'none',
      run: () => 'Direct message response',
    }),
  },
});
