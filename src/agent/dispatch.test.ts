import { describe, expect, test } from 'vitest';
import { type CodedError, isCodedError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { MessageId } from '../model/ids.ts';
import type { Message, Part } from '../model/message.ts';
import { defineAgent } from './define-agent.ts';
import { reply, skill } from './definition.ts';
import { selectSkill } from './dispatch.ts';

const refund = skill({ description: 'Refunds an order', run: () => 'done' });
const status = reply({ description: 'How it stands', run: () => 'fine' });
const support = defineAgent({ name: 'support', description: 'Refunds', skills: { refund, status } });

function message(parts: readonly Part[], metadata?: JsonObject): Message {
  return { messageId: 'm1' as MessageId, role: 'user', parts, ...(metadata === undefined ? {} : { metadata }) };
}
const hello = message([{ kind: 'text', text: 'hello' }]);

function refusalOf(act: () => unknown): CodedError {
  try {
    act();
  } catch (error) {
    if (isCodedError(error)) return error;
  }
  throw new Error('it was not refused');
}

describe('a skill is chosen', () => {
  const own = 'https://holdfast.dev/a2a/v1/skillId';
  test.each<[string, JsonObject]>([
    ['our own key', { [own]: 'status' }],
    ['skillId', { skillId: 'status' }],
    ['skill', { skill: 'status' }],
    ['our own key before the short ones', { [own]: 'status', skillId: 'refund', skill: 'refund' }],
  ])('by %s in the metadata of the message or of the request', (_name, metadata) => {
    expect(selectSkill(support, { message: message(hello.parts, metadata) })).toBe('status');
    expect(selectSkill(support, { message: hello, metadata })).toBe('status');
  });

  test('by the message before the request', () => {
    const request = { message: message(hello.parts, { skillId: 'status' }), metadata: { skillId: 'refund' } };
    expect(selectSkill(support, request)).toBe('status');
  });

  test('by a data part that is an envelope, and by the metadata before it', () => {
    const data = message([{ kind: 'data', data: { skill: 'status', input: 1 } }]);
    expect(selectSkill(support, { message: data })).toBe('status');
    expect(selectSkill(support, { message: data, metadata: { skillId: 'refund' } })).toBe('refund');
    expect(selectSkill(support, { message: message([{ kind: 'data', data: { skill: 'status' } }]) })).toBe('status');
  });

  test('as the only one, or as the one called default', () => {
    const shout = defineAgent({ name: 'shout', description: 'x', run: (turn) => turn.text });
    expect(selectSkill(shout, { message: hello })).toBe('default');
    const single = defineAgent({ name: 'single', description: 'x', skills: { refund } });
    expect(selectSkill(single, { message: hello })).toBe('refund');
    const both = defineAgent({ name: 'both', description: 'x', skills: { status, default: refund } });
    expect(selectSkill(both, { message: hello })).toBe('default');
  });

  test('by the agent itself before anything else, unless it leaves the choice to the rules', () => {
    const dispatch = (asked: Message) => (asked.parts[0]?.kind === 'text' ? 'refund' : undefined);
    const own = defineAgent({ name: 'own', description: 'x', skills: { refund, status }, dispatch });
    expect(selectSkill(own, { message: hello, metadata: { skillId: 'status' } })).toBe('refund');
    const data = message([{ kind: 'data', data: 1 }]);
    expect(selectSkill(own, { message: data, metadata: { skillId: 'status' } })).toBe('status');
  });
});

describe('a message is refused', () => {
  test('that names no skill of several: the error lists them', () => {
    const refusal = refusalOf(() => selectSkill(support, { message: hello }));
    expect(refusal.code).toBe('invalid_argument');
    expect(refusal.message).toBe(
      'This agent has the skills refund, status. Name one: metadata {"skillId":"refund"} or --skill refund.',
    );
  });

  test.each<[string, string, Message, JsonObject | undefined]>([
    ['the message', 'message.metadata.skillId', message(hello.parts, { skillId: 'refnud' }), undefined],
    ['the request', 'metadata.skill', hello, { skill: 'refnud' }],
    [
      'our own key',
      'metadata["https://holdfast.dev/a2a/v1/skillId"]',
      hello,
      { 'https://holdfast.dev/a2a/v1/skillId': 3 },
    ],
    [
      'a data part',
      'message.parts[0].data.skill',
      message([{ kind: 'data', data: { skill: 'refnud', input: {} } }]),
      undefined,
    ],
  ])('that names an unknown skill in %s: the field is named', (_name, field, asked, metadata) => {
    const request = { message: asked, ...(metadata === undefined ? {} : { metadata }) };
    const refusal = refusalOf(() => selectSkill(support, request));
    expect(refusal.code).toBe('invalid_argument');
    expect(refusal.message).toMatch(/has no skill .*This agent has the skills refund, status\. Name one:/);
    expect(refusal.detail.violations).toEqual([{ field, description: 'must be one of refund, status' }]);
  });

  test.each(['__proto__', 'constructor', 'toString'])('that names %s, which every object has', (skillId) => {
    expect(refusalOf(() => selectSkill(support, { message: hello, metadata: { skillId } })).code).toBe(
      'invalid_argument',
    );
  });
});

describe('words that are not meant for dispatch are left alone', () => {
  const hiring = defineAgent({ name: 'hiring', description: 'x', skills: { default: refund, status } });
  test.each<[string, Message]>([
    ['data with a field of its own beside skill', message([{ kind: 'data', data: { skill: 'typescript', years: 3 } }])],
    ['data whose skill is none of ours', message([{ kind: 'data', data: { skill: 'typescript' } }])],
    [
      'a second data part',
      message([
        { kind: 'data', data: 1 },
        { kind: 'data', data: { skill: 'status', input: 1 } },
      ]),
    ],
    ['a short key that holds an object', message(hello.parts, { skill: { name: 'status' } })],
  ])('%s', (_name, asked) => {
    expect(selectSkill(hiring, { message: asked })).toBe('default');
  });
});

describe("the author's own fault is internal, with the reason as its cause", () => {
  test.each<[string, () => string]>([
    ['returned "nowhere", and agent has the skills refund, status', () => 'nowhere'],
    [
      'threw',
      () => {
        throw new TypeError('x of undefined');
      },
    ],
  ])('dispatch() %s', (text, dispatch) => {
    const broken = defineAgent({ name: 'broken', description: 'x', skills: { refund, status }, dispatch });
    const refusal = refusalOf(() => selectSkill(broken, { message: hello }));
    expect(refusal.code).toBe('internal');
    expect(refusal.message).toBe('internal');
    expect(refusal.detail.cause).toMatchObject({ name: 'AgentCodeError', message: expect.stringContaining(text) });
  });
});
