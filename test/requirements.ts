/**
 * Every promise that this server makes: those of the A2A specification 1.0.1 that bind an agent, and its own.
 * A test cites a promise by `verifies('id')` in its title; `test/requirements.test.ts` fails where one is cited by nobody.
 * `docs/conformance.md` shows the same list.
 */
export interface Requirement {
  readonly source: string;
  readonly promise: string;
}

const a2a = (section: string, promise: string): Requirement => ({ source: `A2A 1.0.1 §${section}`, promise });
const own = (promise: string): Requirement => ({ source: 'Holdfast', promise });

export const requirements = {
  // Send
  'send.task-or-message': a2a('3.1.1', 'A send answers with a Task, or with one Message.'),
  'send.blocking': a2a(
    '3.2.2',
    'A send waits until the task is terminal or interrupted, and answers with its artifacts and status.',
  ),
  'send.return-immediately': a2a('3.2.2', 'With returnImmediately a send answers once the task is stored.'),
  'send.terminal-refused': a2a('3.1.1', 'A message to a terminal task is UnsupportedOperation.'),
  'send.unknown-task': a2a('3.4.2', 'A message with an unknown taskId is TaskNotFound, and makes no task.'),
  'send.content-type': a2a('3.3.2', 'A part whose media type a skill does not take is ContentTypeNotSupported.'),
  'send.history-length': a2a('3.2.4', 'historyLength: unset is the default, 0 is none, n is at most the newest n.'),
  'context.generated': a2a('3.4.1', 'A generated contextId is in the answer; a contextId that was sent is kept.'),
  'context.inferred': a2a('3.4.3', 'A taskId alone brings its context.'),
  'context.mismatch': a2a('3.4.3', 'A taskId with another contextId is refused, and nothing is stored.'),
  'task.id-unique': a2a('3.4.2', 'Every task has an id of its own, made by the server.'),
  // Streams
  'stream.message-only': a2a('3.1.2', 'A stream of a reply holds exactly one Message, then ends.'),
  'stream.lifecycle': a2a(
    '3.1.2',
    'A stream of a task begins with the Task, goes on with updates, and ends at the terminal status.',
  ),
  'stream.order': a2a('3.5.2', 'Events come in the order in which they happened.'),
  'stream.broadcast': a2a('3.5.2', 'All streams of a task get the same events in the same order.'),
  'stream.independent': a2a('3.5.2', 'Closing a stream touches neither the task nor another stream.'),
  'stream.early-error': own('What is wrong before a stream begins is a plain error, never an empty stream.'),
  'subscribe.snapshot-first': a2a('3.1.6', 'A subscription begins with the Task as it stands.'),
  'subscribe.ends': a2a('3.1.6', 'A subscription ends when the task does.'),
  'subscribe.terminal-refused': a2a('3.1.6', 'Subscribing to a terminal task is UnsupportedOperation.'),
  // Get, list, cancel
  'get.unknown': a2a('3.1.3', 'Getting an unknown task is TaskNotFound.'),
  'list.artifacts-omitted': a2a('3.1.4', 'A list has no artifacts field unless it was asked for.'),
  'list.next-page-token': a2a('3.1.4', 'nextPageToken is always there; empty on the last page.'),
  'list.order': a2a('3.1.4', 'Tasks come newest status first.'),
  'list.scope': a2a('13.1', 'A list holds the tasks of its caller only, with and without filters.'),
  'list.filters': a2a(
    '3.1.4',
    'contextId, status and statusTimestampAfter narrow a list; a bad value names its field.',
  ),
  'list.pages-whole': own(
    'Paging gives every task once, with equal timestamps and while tasks move; a token serves its own caller and filters only.',
  ),
  'cancel.canceled': a2a('3.1.5', 'A cancel answers with the task, canceled.'),
  'cancel.not-cancelable': a2a('3.1.5', 'Canceling a terminal task is TaskNotCancelable, and changes nothing.'),
  'cancel.idempotent': a2a('3.3.1', 'Many cancels at once have the effect of one.'),
  'cancel.policy': own('An agent that says submitted-only is canceled before it starts, or not at all.'),
  // Capabilities
  'capability.push': a2a('3.3.4', 'Push operations answer PushNotificationNotSupported while the card says so.'),
  'capability.extended-card': a2a(
    '3.3.4',
    'GetExtendedAgentCard is UnsupportedOperation while the card does not declare it.',
  ),
  // Versions and service parameters
  'version.supported': a2a('3.6.2', 'A request is served in the version it names; the patch number does not count.'),
  'version.unsupported': a2a('3.6.2', 'Any other version is VersionNotSupported.'),
  'version.empty': a2a('3.6.2', 'No version means 0.3.'),
  'version.query': a2a('3.6.1', 'A2A-Version may come as a request parameter; the header wins.'),
  // Errors
  'error.mapping': a2a('5.4', 'Each error has the code of the table on every binding.'),
  'error.info': a2a('11.6', 'A2A errors carry ErrorInfo with reason and domain; details carry @type.'),
  'error.validation': a2a('3.3.2', 'Bad input is refused by the name of its field, and nothing is stored.'),
  'error.json-rpc': a2a(
    '9.5',
    'Malformed JSON, bad envelopes, unknown methods and bad params have the codes of JSON-RPC 2.0.',
  ),
  'error.no-leak': own('A failure of ours never shows its text to a client.'),
  // Data
  'json.camel-case': a2a(
    '5.5',
    'JSON is written in camelCase with the enum names of the proto, and without fields of older versions.',
  ),
  'json.timestamps': a2a('5.6.1', 'Timestamps are UTC, with milliseconds and Z.'),
  'json.unknown-fields': a2a('5.7', 'Unknown fields are ignored.'),
  'json.required': a2a('5.7', 'Missing required fields are refused.'),
  'json.lenient-read': own(
    'camelCase and snake_case, enum names and numbers, both base64 alphabets and `role: "user"` are read.',
  ),
  'content.equal': own('NUL, lone surrogates, key order, 2^53−1 and 8 MiB of bytes come back equal, from every store.'),
  // Card, discovery
  'card.well-known': a2a('8.2', 'The card stands at its well-known address.'),
  'card.interfaces': a2a(
    '8.3.1',
    'The card names each binding that is on, with its absolute URL, and none that is off.',
  ),
  'card.caching': a2a('8.6.1', 'The card has Cache-Control and an ETag, and answers 304.'),
  'rest.routes': a2a('11.3', 'Each operation has its REST route, with and without a tenant.'),
  'rest.content-type': a2a('11.1', 'REST answers application/a2a+json and takes application/json too.'),
  'bindings.equal': a2a('5.1', 'All bindings serve the same operations with the same results and errors.'),
  // Auth
  'auth.unauthenticated': a2a('7.4', 'Bad or missing credentials are refused as such, never as not found.'),
  'auth.scoped': a2a('13.1', 'Foreign and absent ids get one answer, in every operation of every binding.'),
  'auth-required.message': a2a(
    '7.6.1',
    'A task that needs a sign-in is AUTH_REQUIRED with a message that says so; its streams stay open.',
  ),
  'auth-required.cleared': a2a('7.6.1', 'A message or native resume clears it: same task, a second run.'),
  // Multi-turn
  'input-required.continues': a2a('3.4.3', 'An answer continues the task: same task and context, a second run.'),
  'history.once': own('Each message stands in the history once, in order; a status message when it is superseded.'),
  // Durability
  'durable.crash': own('A task whose server is killed goes on by itself, and no recorded step is paid twice.'),
  'durable.log': own('The log loses, doubles and reorders nothing that a client had seen.'),
  'durable.resume': own('Last-Event-ID gives exactly the events after it; a bad cursor is refused by name.'),
  'durable.disconnect': own('A client that leaves changes nothing.'),
  'durable.steps-moved': own('Steps added and reordered under a waiting task are harmless.'),
  'idempotent.same': own('One message id, however often, over whatever binding: one task, one run.'),
  'idempotent.other-content': own('The same message id with other content is a clear error.'),
  'idempotent.metadata': own('Other metadata (but the skill) and other configuration are still the same message.'),
  'native.same-rows': own('Native REST and A2A show the same tasks, with the same ids.'),
  'native.replay': own('The native stream replays from the start, also after the end.'),
  'slow-reader.bounded': own('Readers that never read cost bounded memory and nobody else’s time.'),
  'slow-reader.large-task': own('Readers of a large task share its text: many that never read cost it once.'),
  'answer.files-streamed': own('An answer with files holds no file: their bytes are read while it goes out.'),
  'artifact.linear': own('A chunk costs the same, however long its artifact is.'),
  'states.matrix': own(
    'Every operation in every state has the answer of the table, under both cancel policies, on every binding.',
  ),
  'drain.last-word': own('A server that stops ends its streams with a last word, never a bare end.'),
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof requirements;

/** Cites promises in a test's title. */
export function verifies(...ids: readonly [RequirementId, ...RequirementId[]]): string {
  return `[${ids.join(', ')}]`;
}
