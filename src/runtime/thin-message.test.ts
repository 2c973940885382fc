import { expect, test } from 'vitest';
import type { Message } from '../model/message.ts';
import { textMessage } from '../testing/runtime-node.ts';
import { formatMessage, parseMessage } from './message-text.ts';
import { createSecrets } from './secrets.ts';
import { openContent, sealContent, withholdContent } from './thin-message.ts';

const message: Message = {
  ...textMessage('m1', 'a secret'),
  parts: [
    { kind: 'text', text: 'a secret', metadata: { a: 1 } },
    { kind: 'raw', raw: Uint8Array.of(0, 255, 1), filename: 'secret.bin' },
    { kind: 'data', data: { secret: true } },
    { kind: 'url', url: 'https://a.example/secret' },
  ],
  metadata: { note: 'secret' },
};

test('a withheld message keeps who and which kinds; its content comes back from the seal', () => {
  const secrets = createSecrets(new Uint8Array(32).fill(1));
  const thin = withholdContent(message);
  expect(JSON.stringify(thin)).not.toContain('secret');
  expect(thin.parts).toEqual(['text', 'raw', 'data', 'url'].map((of) => ({ kind: 'withheld', of })));
  expect(withholdContent(thin)).toEqual(thin);
  expect(openContent(secrets, thin, sealContent(secrets, message))).toEqual(message);
});

test('a message comes back from its text with its bytes', () => {
  expect(parseMessage(formatMessage(message))).toEqual(message);
});
