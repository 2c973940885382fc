import { z } from 'zod';
import { completed, type Duration, defineAgent, Fail, Reject, reply, skill, type TaskTurn } from '../src/index.ts';

/** What a text asks of the demo. */
export type Wish =
  | { readonly kind: 'talk'; readonly name?: string }
  | { readonly kind: 'write'; readonly topic: string }
  | { readonly kind: 'book'; readonly what: string }
  | { readonly kind: 'wait'; readonly until: Duration }
  | { readonly kind: 'pay'; readonly amount: number }
  | { readonly kind: 'sign-in' }
  | { readonly kind: 'reject' }
  | { readonly kind: 'fail' };

const MENU = [
  'write about tides – streams an artifact, line by line',
  'book a table – asks you something, and waits for days if need be',
  'wait 5s – sleeps without holding anything; stop the server meanwhile',
  'pay 12 – two steps that happen once, whatever crashes',
  'sign in – waits until somebody has signed in',
  'I am Ada – is remembered in this session',
  'reject · fail – the other two ends of a task',
  'or send a file: it comes back',
];

export function readWish(text: string): Wish {
  const line = text.trim();
  const [, topic] = /^(?:write|stream|tell me)(?:\s+(?:me\s+)?(?:about\s+)?(.*))?$/is.exec(line) ?? [];
  if (/^(write|stream|tell me)\b/i.test(line)) return { kind: 'write', topic: topic?.trim() || 'tides' };
  const book = /^(?:book|ask|reserve)\b\s*(.*)$/is.exec(line);
  if (book) return { kind: 'book', what: book[1]?.replace(/[.!?]+$/, '').trim() || 'a table' };
  const wait = /^(?:wait|sleep)\b(?:\s+for)?\s*(?:(\d{1,4}(?:\.\d{1,3})?)(?!\d)\s*(ms|s|m|h|d)?)?/i.exec(line);
  if (wait) return { kind: 'wait', until: `${Number(wait[1] ?? 5)}${(wait[2]?.toLowerCase() ?? 's') as 's'}` };
  const pay = /^(?:pay|buy|charge)\b\D*(\d{1,6})?/i.exec(line);
  if (pay) return { kind: 'pay', amount: Number(pay[1] ?? 12) };
  if (/^(sign|log) ?in\b|^authorize\b/i.test(line)) return { kind: 'sign-in' };
  if (/^reject\b/i.test(line)) return { kind: 'reject' };
  if (/^fail\b/i.test(line)) return { kind: 'fail' };
  const name = /\b(?:I am|I'm|my name is|call me)\s+(\p{Lu}[\p{L}'-]{0,40})/u.exec(line)?.[1];
  return { kind: 'talk', ...(name === undefined ? {} : { name }) };
}

async function fulfil(turn: TaskTurn<string>) {
  if (turn.files.length > 0) return await echo(turn);
  const wish = readWish(turn.text);
  switch (wish.kind) {
    case 'talk':
      return await talk(turn, wish.name);
    case 'write':
      return await write(turn, wish.topic);
    case 'book':
      return await book(turn, wish.what);
    case 'wait':
      return await wait(turn, wish.until);
    case 'pay':
      return await pay(turn, wish.amount);
    case 'sign-in':
      await turn.authorize({ scheme: 'demo', url: 'https://example.com/sign-in', text: SIGN_IN });
      return 'You are signed in. Nothing was checked: this is a demo.';
    case 'reject':
      throw new Reject('I would rather not. (A task that is rejected ends like this.)');
    case 'fail':
      throw new Fail('That went wrong, on purpose.', { code: 'DEMO_FAILURE' });
  }
}

const SIGN_IN =
  'Please sign in at https://example.com/sign-in, then send any message with this task id. (Nothing is checked.)';

/** Who you are is state of the session: it is there in the next task of the same contextId, after a restart too. */
async function talk(turn: TaskTurn<string>, told: string | undefined): Promise<string> {
  const visits = Number((await turn.state.get('visits')) ?? 0) + 1;
  const known = await turn.state.get('name');
  turn.state.set('visits', visits);
  if (told !== undefined) turn.state.set('name', told);
  const name = told ?? (typeof known === 'string' ? known : undefined);
  const greeting = told !== undefined && told !== known ? 'Pleased to meet you' : visits > 1 ? 'Hello again' : 'Hello';
  const hint = name === undefined ? ' Tell me your name and I shall know it next time: "I am Ada".' : '';
  const said = visits > 1 ? ` This is message ${visits} of our session.` : '';
  const again = `Send the same contextId again, and I go on where we were.`;
  const menu = visits > 1 ? '' : `\n\nTry one of these:\n${MENU.map((line) => `- ${line}`).join('\n')}`;
  return `${greeting}${name === undefined ? '' : `, ${name}`}!${said}${hint} ${again}${menu}`;
}

/** One artifact, chunk by chunk. Stop the server on the way: the next one goes on after the last line that was seen. */
async function write(turn: TaskTurn<string>, topic: string): Promise<void> {
  await turn.status(`Writing about ${topic.slice(0, 80)}`);
  const lines = [
    `# On ${topic}\n\n`,
    `There is more to ${topic} than one line can hold, so this comes in several.\n`,
    'Each line you see was stored before it was sent.\n',
    'If the server dies now, it goes on with the next line when it is back.\n',
    'If you leave now, the work goes on without you.\n',
    'If you come back with the id of the last line you saw, you get the ones after it, and none twice.\n',
    `That is all there is to say about ${topic}.\n`,
  ];
  const artifact = turn.artifact('essay.md', { mediaType: 'text/markdown', description: `A few lines on ${topic}` });
  for (const [index, line] of lines.entries()) {
    if (index > 0) await turn.sleep('150ms');
    await artifact.append(line, { last: index === lines.length - 1 });
  }
}

const Booking = z.object({
  people: z.int().min(1).max(12),
  day: z.enum(['today', 'tomorrow', 'friday']).default('today'),
});

/** A question in the middle of the work: the task waits in INPUT_REQUIRED, and no process with it. */
async function book(turn: TaskTurn<string>, what: string): Promise<string> {
  const answer = await turn.ask(`For how many people shall I book ${what.slice(0, 80)}, and for which day?`, {
    schema: Booking,
    timeout: '7d',
  });
  const number = await turn.step('book', ({ idempotencyKey }) => ticket('B', idempotencyKey));
  return `Booked ${what} for ${answer.people}, ${answer.day}. Your booking is ${number}.`;
}

async function wait(turn: TaskTurn<string>, until: Duration): Promise<string> {
  await turn.status(`Waiting ${until}. No process, no memory and no connection waits with me.`);
  await turn.sleep(until);
  return `Waited ${until}.`;
}

/** Two effects on the outside world. Each is recorded when it is done; what was recorded never runs again. */
async function pay(turn: TaskTurn<string>, amount: number): Promise<string> {
  if (amount < 1) throw new Reject('An amount of at least 1, please.');
  const reserved = await turn.step('reserve', ({ idempotencyKey }) => ticket('R', idempotencyKey));
  await turn.status(`Reserved ${amount} under ${reserved}`);
  const receipt = await turn.step('charge', ({ idempotencyKey }) => ticket('P', idempotencyKey));
  return `Paid ${amount}. Your receipt is ${receipt}, and it is the only one.`;
}

/** The outside world of this demo: the same key always gets the same number, as a payment provider would do it. */
function ticket(letter: string, idempotencyKey: string): string {
  let sum = 0;
  for (const char of idempotencyKey) sum = (Math.imul(sum, 31) + char.charCodeAt(0)) >>> 0;
  return `${letter}-${String(sum % 1_000_000).padStart(6, '0')}`;
}

/** Each file comes back as an artifact of its own. */
async function echo(turn: TaskTurn<string>) {
  for (const [index, file] of turn.files.entries()) {
    const name = file.name ?? `file-${index + 1}`;
    const common = {
      ...(file.name === undefined ? {} : { filename: file.name }),
      ...(file.mediaType === undefined ? {} : { mediaType: file.mediaType }),
    };
    const part =
      file.url === undefined
        ? ({ kind: 'raw', raw: await file.bytes(), ...common } as const)
        : ({ kind: 'url', url: file.url, ...common } as const);
    await turn.artifact(name).append([part], { last: true });
  }
  return completed(`Here ${turn.files.length === 1 ? 'is your file' : `are your ${turn.files.length} files`} again.`);
}

export default defineAgent({
  name: 'demo',
  description:
    'Shows what a durable agent does: it streams, asks you something, remembers you, sleeps, survives. Say hello and it tells you what to try.',
  skills: {
    default: skill({
      title: 'Talk to the demo',
      description:
        'Does what you write: streams an essay, books with a question in between, waits, pays once, signs in, remembers your name, gives files back.',
      tags: ['demo', 'streaming', 'files', 'input-required', 'auth-required'],
      examples: ['hello', 'I am Ada', 'write about tides', 'book a table', 'wait 5s', 'pay 12', 'sign in', 'fail'],
      inputModes: ['text/plain', 'application/json', '*/*'],
      outputModes: ['text/plain', 'text/markdown', '*/*'],
      run: fulfil,
    }),
    ping: reply({
      title: 'Ping',
      description: 'Answers at once with one message and leaves no task behind.',
      tags: ['demo', 'message'],
      examples: ['are you there?'],
      effect: 'none',
      run: (turn) => (turn.text.trim() === '' ? 'pong' : `pong: ${turn.text}`),
    }),
    countdown: skill({
      title: 'Countdown',
      description: 'Counts down in data chunks, one a second, and says how it is going. Input: {"from": 3}.',
      tags: ['demo', 'streaming', 'data'],
      examples: ['{"from": 3}'],
      input: z.object({ from: z.int().min(1).max(60).default(3) }),
      output: z.object({ counted: z.int() }),
      say: ({ counted }) => `Lift-off, after ${counted}.`,
      async run(turn) {
        const { from } = turn.input;
        const numbers = turn.artifact('countdown', { mediaType: 'application/json' });
        for (let left = from; left > 0; left -= 1) {
          await numbers.append({ data: { left } }, { last: left === 1 });
          await turn.status(`${left} …`);
          await turn.sleep('1s');
        }
        return { counted: from };
      },
    }),
  },
});
