import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { defineAgent } from '../../src/agent/define-agent.ts';
import type { PolicyOptions } from '../../src/agent/definition.ts';
import { reply, skill } from '../../src/agent/definition.ts';
import { authRequired, Fail, inputRequired, Reject } from '../../src/agent/errors.ts';

/** Gates that a test opens by name; a handler waits at one. */
export class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #arrived = new Map<string, number>();
  readonly #arrivals = new Map<string, (() => void)[]>();

  async pass(name: string, signal: AbortSignal): Promise<void> {
    this.#arrived.set(name, (this.#arrived.get(name) ?? 0) + 1);
    for (const tell of this.#arrivals.get(name)?.splice(0) ?? []) tell();
    if (this.#open.has(name)) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  open(name: string): void {
    this.#open.add(name);
    for (const go of this.#waiting.get(name)?.splice(0) ?? []) go();
  }

  /** Resolves when `count` handlers have come to the gate. */
  async arrival(name: string, count = 1): Promise<void> {
    while ((this.#arrived.get(name) ?? 0) < count) {
      await new Promise<void>((resolve) => this.#arrivals.set(name, [...(this.#arrivals.get(name) ?? []), resolve]));
    }
  }

  arrivals(name: string): number {
    return this.#arrived.get(name) ?? 0;
  }
}

/** An agent that can be brought into every state, on command. */
export function scenarioAgent(gates: Gates, policy: PolicyOptions = {}, name = 'scenario') {
  return defineAgent({
    name,
    description: 'Goes into any state.',
    policy,
    skills: { ...workSkills(gates), ...waitingSkills, ...otherSkills },
  });
}

/** Skills that work, some until a gate opens. */
function workSkills(gates: Gates) {
  return {
    echo: skill({ description: 'Says it back.', run: (turn) => `echo: ${turn.text}` }),
    hold: skill({
      description: 'Works until its gate opens.',
      async run(turn) {
        await gates.pass(turn.text, turn.signal);
        return 'held';
      },
    }),
    chunks: skill({
      description: 'Streams three chunks; waits at a gate after the first.',
      async run(turn) {
        await turn.status('on it');
        const out = turn.artifact('out');
        await out.append('one ');
        await out.flush();
        await gates.pass(turn.text, turn.signal);
        await out.append('two ');
        await out.append('three', { last: true });
      },
    }),
    slow: skill({
      description: 'Takes a little.',
      async run(turn) {
        await wait(20, undefined, { signal: turn.signal });
        return 'done';
      },
    }),
    file: skill({
      description: 'Gives a file back.',
      async run(turn) {
        const file = turn.files[0];
        if (file === undefined) throw new Reject('no file');
        const out = turn.artifact(file.name ?? 'file', { mediaType: 'application/octet-stream' });
        await out.append(await file.bytes(), { last: true });
      },
    }),
  };
}

/** Skills that wait for the caller. */
const waitingSkills = {
  ask: skill({
    description: 'Asks how many.',
    async run(turn) {
      const { count } = await turn.ask('How many?', { schema: z.object({ count: z.number().int().positive() }) });
      return `${count} it is`;
    },
  }),
  signin: skill({
    description: 'Wants a sign-in.',
    async run(turn) {
      await turn.authorize({ scheme: 'oauth2', url: 'https://id.example/login' });
      return 'signed in';
    },
  }),
  'ask-by-return': skill({
    description: 'Ends its turn asking.',
    run: (turn) => (turn.history.length === 0 ? inputRequired('More?') : `got ${turn.text}`),
  }),
  'signin-by-return': skill({
    description: 'Ends its turn wanting a sign-in.',
    run: (turn) => (turn.history.length === 0 ? authRequired('Sign in please') : 'in'),
  }),
};

/** Skills that end badly, are choosy, or only reply. */
const otherSkills = {
  fail: skill({
    description: 'Fails.',
    run: () => {
      throw new Fail('no luck', { code: 'LUCK' });
    },
  }),
  crash: skill({
    description: 'Throws what nobody should read.',
    run: () => {
      throw new Error('password=hunter2');
    },
  }),
  reject: skill({
    description: 'Rejects.',
    run: () => {
      throw new Reject('not for me');
    },
  }),
  typed: skill({
    description: 'Takes typed input.',
    input: z.object({ order: z.string().regex(/^[A-Z]\d+$/), cents: z.number().int().positive() }),
    run: (turn) => `${turn.input.order}:${turn.input.cents}`,
  }),
  picky: skill({ description: 'Takes images only.', inputModes: ['image/png'], run: () => 'seen' }),
  'picky-ask': skill({
    description: 'Takes images only, and asks about them.',
    inputModes: ['image/png'],
    run: (turn) => turn.ask('What is it?', { schema: z.string() }),
  }),
  ping: reply({ description: 'Answers at once.', run: (turn) => `pong ${turn.text}` }),
};
