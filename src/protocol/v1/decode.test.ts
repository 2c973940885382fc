import { describe, expect, test } from 'vitest';
import type { FieldViolation } from '../../base/errors.ts';
import { decodeSendMessageRequest } from './decode.ts';

const hello = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };

function violations(read: () => unknown): readonly FieldViolation[] {
  try {
    read();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_argument' });
    return (error as { detail: { violations: readonly FieldViolation[] } }).detail.violations;
  }
  return expect.unreachable('the request was taken');
}

function faultsOfSend(json: unknown): Record<string, string> {
  return Object.fromEntries(
    violations(() => decodeSendMessageRequest(json)).map((one) => [one.field, one.description]),
  );
}

const faultsOfMessage = (fields: object): Record<string, string> => faultsOfSend({ message: { ...hello, ...fields } });
const faultsOfPart = (part: unknown): Record<string, string> => faultsOfMessage({ parts: [{ text: 'a' }, part] });
const partOf = (part: object): unknown =>
  decodeSendMessageRequest({ message: { ...hello, parts: [part] } }).message.parts[0];

describe('a message', () => {
  test('the least of one', () => {
    expect(decodeSendMessageRequest({ message: hello })).toEqual({
      message: { messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'hello' }] },
      configuration: { acceptedOutputModes: [], returnImmediately: false },
    });
  });

  test('all of one', () => {
    const json = {
      tenant: 'notebook',
      message: {
        ...hello,
        contextId: 'c1',
        taskId: 't1',
        referenceTaskIds: ['t0'],
        extensions: ['https://example.com/x'],
        metadata: { skillId: 'recall' },
      },
      configuration: {
        acceptedOutputModes: ['text/plain'],
        historyLength: 0,
        returnImmediately: true,
        taskPushNotificationConfig: { url: 'https://example.com/hook', token: 't' },
      },
      metadata: { a: [1, null] },
    };
    expect(decodeSendMessageRequest(json)).toEqual({
      tenant: 'notebook',
      message: {
        messageId: 'm1',
        role: 'user',
        parts: [{ kind: 'text', text: 'hello' }],
        contextId: 'c1',
        taskId: 't1',
        referenceTaskIds: ['t0'],
        extensions: ['https://example.com/x'],
        metadata: { skillId: 'recall' },
      },
      configuration: {
        acceptedOutputModes: ['text/plain'],
        historyLength: 0,
        returnImmediately: true,
        pushConfig: { url: 'https://example.com/hook', token: 't' },
      },
      metadata: { a: [1, null] },
    });
  });

  test('null and the default of a field are absent, unknown fields are passed over', () => {
    const json = {
      tenant: '',
      message: {
        ...hello,
        contextId: null,
        taskId: '',
        metadata: null,
        extensions: [],
        kind: 'message',
        future: { x: 1 },
      },
      configuration: { blocking: false, historyLength: null },
      metadata: null,
    };
    expect(decodeSendMessageRequest(json)).toEqual(decodeSendMessageRequest({ message: hello }));
  });

  test('snake_case names are taken, both names of one field are not', () => {
    const { role, parts } = hello;
    const snake = { message_id: 'm1', role, parts, context_id: 'c1', reference_task_ids: ['t0'] };
    const { message } = decodeSendMessageRequest({ message: snake, configuration: { return_immediately: true } });
    expect(message).toMatchObject({ messageId: 'm1', contextId: 'c1', referenceTaskIds: ['t0'] });
    expect(faultsOfMessage({ taskId: 't1', task_id: 't1' })).toEqual({
      'message.taskId': 'is given twice, as taskId and as task_id',
    });
    expect(faultsOfMessage({ message_id: 'm1' })).toEqual({
      'message.messageId': 'is given twice, as messageId and as message_id',
    });
  });

  test.each(['ROLE_USER', 1, 'user'])('the role %j is the user’s', (role) => {
    expect(decodeSendMessageRequest({ message: { ...hello, role } }).message.role).toBe('user');
  });

  test.each([
    ['ROLE_AGENT', 'a client does not speak as the agent; write "ROLE_USER"'],
    ['agent', 'a client does not speak as the agent; write "ROLE_USER"'],
    [2, 'a client does not speak as the agent; write "ROLE_USER"'],
    ['User', '"User" is not a role; write "ROLE_USER"'],
    ['USER', '"USER" is not a role; write "ROLE_USER"'],
    ['ROLE_UNSPECIFIED', '"ROLE_UNSPECIFIED" is not a role; write "ROLE_USER"'],
    [0, '"0" is not a role; write "ROLE_USER"'],
    [3, '"3" is not a role; write "ROLE_USER"'],
    ['', '"" is not a role; write "ROLE_USER"'],
    [true, 'must be a role, not a boolean; write "ROLE_USER"'],
    [['ROLE_USER'], 'must be a role, not an array; write "ROLE_USER"'],
    [null, 'is required; write "ROLE_USER"'],
    [undefined, 'is required; write "ROLE_USER"'],
  ])('the role %j is refused with what to write', (role, description) => {
    expect(faultsOfMessage({ role })).toEqual({ 'message.role': description });
  });

  test.each([
    [{ messageId: undefined }, 'message.messageId', 'is required'],
    [{ messageId: '' }, 'message.messageId', 'must not be empty'],
    [{ messageId: 7 }, 'message.messageId', 'must be a string, not a number'],
    [{ messageId: 'a'.repeat(257) }, 'message.messageId', 'must have at most 256 characters'],
    [{ messageId: 'a\u0000' }, 'message.messageId', 'must be printable text'],
    [{ messageId: '\ud800' }, 'message.messageId', 'must be printable text'],
    [{ contextId: 'a\nb' }, 'message.contextId', 'must be printable text'],
    [{ taskId: {} }, 'message.taskId', 'must be a string, not an object'],
    [{ referenceTaskIds: 't1' }, 'message.referenceTaskIds', 'must be an array, not a string'],
    [{ referenceTaskIds: ['t1', ''] }, 'message.referenceTaskIds[1]', 'must not be empty'],
    [{ referenceTaskIds: [null] }, 'message.referenceTaskIds[0]', 'must be a string, not null'],
    [{ referenceTaskIds: Array(65).fill('t') }, 'message.referenceTaskIds', 'must have at most 64 items, not 65'],
    [{ extensions: [1] }, 'message.extensions[0]', 'must be a string, not a number'],
    [{ metadata: [] }, 'message.metadata', 'must be an object, not an array'],
    [{ metadata: { a: [{ b: Number.POSITIVE_INFINITY }] } }, 'message.metadata', 'holds a number that is too large'],
    [{ parts: undefined }, 'message.parts', 'at least one is required'],
    [{ parts: null }, 'message.parts', 'at least one is required'],
    [{ parts: [] }, 'message.parts', 'at least one is required'],
    [{ parts: {} }, 'message.parts', 'must be an array, not an object'],
    [{ parts: Array(257).fill({ text: 'a' }) }, 'message.parts', 'must have at most 256 items, not 257'],
  ])('%j is refused', (fields, field, description) => {
    expect(faultsOfMessage(fields)).toEqual({ [field]: description });
  });

  test('ids may hold any printable text, up to 256 characters', () => {
    const messageId = `ünï ☃ ${'x'.repeat(250)}`;
    expect(decodeSendMessageRequest({ message: { ...hello, messageId } }).message.messageId).toBe(messageId);
  });
});

describe('a part', () => {
  test.each([
    [{ text: 'a' }, { kind: 'text', text: 'a' }],
    [{ text: '' }, { kind: 'text', text: '' }],
    [{ text: 'NUL \u0000 and \ud800 stay' }, { kind: 'text', text: 'NUL \u0000 and \ud800 stay' }],
    [{ raw: 'QUI=' }, { kind: 'raw', raw: Buffer.from('AB') }],
    [{ raw: '' }, { kind: 'raw', raw: Buffer.from('') }],
    [{ url: 'https://example.com/a' }, { kind: 'url', url: 'https://example.com/a' }],
    [{ data: { a: 1 } }, { kind: 'data', data: { a: 1 } }],
    [{ data: null }, { kind: 'data', data: null }],
    [
      { data: false, text: null },
      { kind: 'data', data: false },
    ],
    [{ data: 2 ** 53 - 1 }, { kind: 'data', data: 9007199254740991 }],
    [
      { text: 'a', kind: 'text' },
      { kind: 'text', text: 'a' },
    ],
    [
      { text: 'a', mediaType: 'text/markdown', filename: 'a.md', metadata: { b: 1 } },
      { kind: 'text', text: 'a', mediaType: 'text/markdown', filename: 'a.md', metadata: { b: 1 } },
    ],
    [
      { text: 'a', media_type: 'text/markdown', filename: '' },
      { kind: 'text', text: 'a', mediaType: 'text/markdown' },
    ],
  ])('%j is read', (json, part) => {
    expect(partOf(json)).toEqual(part);
  });

  test.each([
    [null, 'message.parts[1]', 'must be an object, not null'],
    ['text', 'message.parts[1]', 'must be an object, not a string'],
    [{}, 'message.parts[1]', 'has none of text, raw, url, data'],
    [{ text: null }, 'message.parts[1]', 'has none of text, raw, url, data'],
    [{ text: 'a', url: 'b' }, 'message.parts[1]', 'must have one of text, raw, url, data, not text and url'],
    [{ text: 'a', data: null }, 'message.parts[1]', 'must have one of text, raw, url, data, not text and data'],
    [{ text: 5 }, 'message.parts[1].text', 'must be a string, not a number'],
    [{ url: '' }, 'message.parts[1].url', 'must not be empty'],
    [{ raw: '***' }, 'message.parts[1].raw', 'must be base64'],
    [{ raw: [1, 2] }, 'message.parts[1].raw', 'must be a string, not an array'],
    [{ text: 'a', filename: 1 }, 'message.parts[1].filename', 'must be a string, not a number'],
    [{ text: 'a', metadata: 'b' }, 'message.parts[1].metadata', 'must be an object, not a string'],
    [{ data: [Number.NEGATIVE_INFINITY] }, 'message.parts[1].data', 'holds a number that is too large'],
  ])('%j is refused', (part, field, description) => {
    const faults = faultsOfPart(part);
    expect(faults[field]).toBe(description);
  });

  test.each([{ kind: 'file', file: { bytes: 'QUI=' } }, { file: { uri: 'https://example.com' } }])(
    'the file of A2A 0.3 is told how 1.0 writes it: %j',
    (part) => {
      expect(faultsOfPart(part)['message.parts[1]']).toContain(
        'write raw (base64) or url, with filename and mediaType',
      );
    },
  );

  test('8 MiB decoded is the most; more is refused before it is decoded', () => {
    const most = Buffer.alloc(8 * 1024 * 1024, 7);
    const part = partOf({ raw: most.toString('base64') }) as { readonly raw: Uint8Array };
    expect(Buffer.compare(part.raw, most)).toBe(0);
    const description = 'must have at most 8388608 bytes when decoded; send larger content by url';
    for (const bytes of [8 * 1024 * 1024 + 1, 20 * 1024 * 1024]) {
      expect(faultsOfPart({ raw: Buffer.alloc(bytes).toString('base64') })).toEqual({
        'message.parts[1].raw': description,
      });
    }
  });

  test('data nested deeper than 64 levels is refused', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(partOf({ data: nested(64) })).toMatchObject({ kind: 'data' });
    expect(faultsOfPart({ data: nested(65) })).toEqual({
      'message.parts[1].data': 'must not be nested deeper than 64 levels',
    });
    expect(faultsOfPart({ data: nested(5_000) })).toHaveProperty(['message.parts[1].data']);
  });

  test('a key named __proto__ is data like any other', () => {
    const data = JSON.parse('{"__proto__":{"polluted":true},"a":1}');
    expect(JSON.stringify(partOf({ data }))).toBe('{"kind":"data","data":{"__proto__":{"polluted":true},"a":1}}');
    expect(
      decodeSendMessageRequest(JSON.parse(`{"__proto__":{"tenant":"x"},"message":${JSON.stringify(hello)}}`)),
    ).not.toHaveProperty('tenant');
  });
});

describe('a request', () => {
  test.each([
    [undefined, { message: 'is required' }],
    [{}, { message: 'is required' }],
    [{ message: null }, { message: 'is required' }],
    [{ message: 'hello' }, { message: 'must be an object, not a string' }],
    [null, { request: 'must be an object, not null' }],
    [[hello], { request: 'must be an object, not an array' }],
    ['hello', { request: 'must be an object, not a string' }],
  ])('%j is refused', (json, faults) => {
    expect(faultsOfSend(json)).toEqual(faults);
  });

  test.each([
    [{ historyLength: -1 }, 'historyLength', 'must be from 0 to 2147483647, not -1'],
    [{ historyLength: 1.5 }, 'historyLength', 'must be a whole number, not "1.5"'],
    [{ historyLength: 2 ** 31 }, 'historyLength', 'must be from 0 to 2147483647, not 2147483648'],
    [{ historyLength: 'ten' }, 'historyLength', 'must be a whole number, not "ten"'],
    [{ historyLength: '' }, 'historyLength', 'must be a whole number, not ""'],
    [{ historyLength: [] }, 'historyLength', 'must be a whole number, not an array'],
    [{ historyLength: true }, 'historyLength', 'must be a whole number, not "true"'],
    [{ returnImmediately: 'true' }, 'returnImmediately', 'must be true or false, not a string'],
    [{ returnImmediately: 1 }, 'returnImmediately', 'must be true or false, not a number'],
    [{ acceptedOutputModes: 'text/plain' }, 'acceptedOutputModes', 'must be an array, not a string'],
    [{ taskPushNotificationConfig: {} }, 'taskPushNotificationConfig.url', 'is required'],
    [{ taskPushNotificationConfig: [] }, 'taskPushNotificationConfig', 'must be an object, not an array'],
    [
      { taskPushNotificationConfig: { url: 'u', authentication: {} } },
      'taskPushNotificationConfig.authentication.scheme',
      'is required',
    ],
  ])('the configuration %j is refused', (configuration, field, description) => {
    expect(faultsOfSend({ message: hello, configuration })).toEqual({ [`configuration.${field}`]: description });
  });

  test.each([[10], ['10'], [10.0], ['1e1'], ['10.0']])('%j is ten', (historyLength) => {
    const { configuration } = decodeSendMessageRequest({ message: hello, configuration: { historyLength } });
    expect(configuration.historyLength).toBe(10);
  });

  test('several faults are told at once: three in the message, all in the details', () => {
    const read = () => decodeSendMessageRequest({ message: { role: 'agent', parts: [{ raw: '*' }, {}] }, metadata: 1 });
    expect(read).toThrow(
      'message.messageId: is required; message.role: a client does not speak as the agent; write "ROLE_USER"; message.parts[0].raw: must be base64',
    );
    expect(read).toThrow(/; and 2 more$/);
    expect(
      violations(read)
        .map(({ field }) => field)
        .sort(),
    ).toEqual(['message.messageId', 'message.parts[0].raw', 'message.parts[1]', 'message.role', 'metadata']);
  });

  test('no more than 20 are collected', () => {
    const parts = Array(200).fill({});
    expect(violations(() => decodeSendMessageRequest({ message: { ...hello, parts } }))).toHaveLength(20);
  });
});
