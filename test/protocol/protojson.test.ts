import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message, Part } from '../../src/model/message.ts';
import { TASK_STATE_NUMBERS } from '../../src/model/task.ts';
import { decodeListTasksRequest, decodeSendMessageRequest } from '../../src/protocol/v1/decode.ts';
import type { PushConfig } from '../../src/protocol/v1/push-requests.ts';
import { listRequests, sendRequests } from '../support/a2a-arbitraries.ts';
import { type Reading, referenceList, referenceSend } from '../support/a2a-reference.ts';

const RUNS = 1_000;

/** Our decoder against protobuf's own JSON reader and the rules of A2A beside it: the same refusals, the same values. */
describe('reads JSON as protobuf does', () => {
  test.each([
    ['SendMessageRequest', false],
    ['SendMessageRequest', true],
    ['ListTasksRequest', false],
    ['ListTasksRequest', true],
  ] as const)('%s, noise %s', (name, noise) => {
    const send = name === 'SendMessageRequest';
    const requests = send ? sendRequests({ noise }) : listRequests({ noise });
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(requests, (json) => {
        const reference = send ? referenceSend(json) : referenceList(json);
        const own = send ? ownSend(json) : ownList(json);
        if ('refused' in own) refused += 1;
        else accepted += 1;
        if ('refused' in reference || 'refused' in own) {
          expect({ own: 'refused' in own, reasons: [own, reference] }).toMatchObject({ own: 'refused' in reference });
          return;
        }
        expect(own.value).toEqual(reference.value);
      }),
      { numRuns: RUNS },
    );
    expect(accepted).toBeGreaterThan(RUNS / 10);
    if (noise) expect(refused).toBeGreaterThan(RUNS / 10);
    else expect(refused).toBe(0);
  });
});

describe('where it differs from protobuf, on purpose', () => {
  const withPart = (part: unknown): never => ({ message: { messageId: 'm', role: 1, parts: [part] } }) as never;
  const message = (fields: object): never =>
    ({ message: { messageId: 'm', role: 1, parts: [{ text: 'a' }], ...fields } }) as never;

  const withHistory = (historyLength: string): never =>
    ({ message: { messageId: 'm', role: 1, parts: [{ text: 'a' }] }, configuration: { historyLength } }) as never;

  test.each([
    ['a role "user" is taken as a courtesy', message({ role: 'user' })],
    ['a lone surrogate is kept', withPart({ text: '\ud800' })],
  ])('takes: %s', (_why, json) => {
    expect(referenceSend(json)).toHaveProperty('refused');
    expect(ownSend(json)).toHaveProperty('value');
  });

  test.each([
    ['hexadecimal is not a JSON number', referenceSend, ownSend, withHistory('0x10')],
    ['a plus sign is not a JSON number', referenceSend, ownSend, withHistory('+1')],
    ['two base64 texts in one', referenceSend, ownSend, withPart({ raw: 'QQ==QQ==' })],
    ['nesting that our stack is not spent on', referenceSend, ownSend, withPart({ data: nested(70) })],
    ['a day that does not exist', referenceList, ownList, { statusTimestampAfter: '2026-02-30T00:00:00Z' }],
    ['an hour that does not exist', referenceList, ownList, { statusTimestampAfter: '2026-02-28T24:00:00Z' }],
  ])('refuses: %s', (_why, reference, own, json) => {
    expect(reference(json as never)).toHaveProperty('value');
    expect(own(json as never)).toHaveProperty('refused');
  });
});

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

function ownSend(json: never): Reading {
  return reading(() => {
    const { tenant, message, configuration, metadata } = decodeSendMessageRequest(json);
    return {
      tenant: tenant ?? '',
      message: plainMessage(message),
      outputModes: configuration.acceptedOutputModes,
      returnImmediately: configuration.returnImmediately,
      historyLength: configuration.historyLength,
      push: configuration.pushConfig && plainPush(configuration.pushConfig),
      metadata,
    };
  });
}

function ownList(json: never): Reading {
  return reading(() => {
    const { tenant, contextId, state, pageSize, pageToken, historyLength, stateAtFrom, includeArtifacts } =
      decodeListTasksRequest(json);
    return {
      tenant: tenant ?? '',
      contextId,
      status: state === undefined ? 0 : TASK_STATE_NUMBERS[state],
      pageSize,
      pageToken: pageToken ?? '',
      historyLength,
      fromMs: stateAtFrom,
      includeArtifacts,
    };
  });
}

function reading(read: () => unknown): Reading {
  try {
    return { value: read() };
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_argument' });
    return { refused: String(error) };
  }
}

function plainMessage(message: Message): unknown {
  expect(message.role).toBe('user');
  return {
    messageId: message.messageId,
    contextId: message.contextId,
    taskId: message.taskId,
    parts: message.parts.map(plainPart),
    metadata: message.metadata,
    extensions: message.extensions ?? [],
    references: message.referenceTaskIds ?? [],
  };
}

function plainPart(part: Part): unknown {
  const { mediaType = '', filename = '', metadata } = part;
  return { kind: part.kind, value: plainContent(part), mediaType, filename, metadata };
}

function plainContent(part: Part): unknown {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'url') return part.url;
  if (part.kind === 'data') return part.data;
  return part.kind === 'raw' ? Buffer.from(part.raw).toString('hex') : expect.unreachable(part.kind);
}

function plainPush({ tenant = '', url, token = '', id, taskId, authentication }: PushConfig): unknown {
  const plain = { tenant, url, token, id, taskId };
  if (authentication === undefined) return plain;
  return { ...plain, scheme: authentication.scheme, credentials: authentication.credentials ?? '' };
}
