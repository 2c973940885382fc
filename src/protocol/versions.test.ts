import { expect, test } from 'vitest';
import { negotiateVersion } from './versions.ts';

test.each(['1.0', '1.0.0', '1.0.1', '1.0.12'])('%s is 1.0: a patch number means nothing', (text) => {
  expect(negotiateVersion(text)).toBe('1.0');
});

test.each([undefined, ''])('no version (%j) means 0.3, and the answer says what to add', (text) => {
  expect(() => negotiateVersion(text)).toThrow(
    expect.objectContaining({
      code: 'version_not_supported',
      message: 'No A2A-Version was sent, which means 0.3; this server speaks 1.0. Add the header "A2A-Version: 1.0".',
      detail: expect.objectContaining({ metadata: { supportedVersions: '1.0' } }),
    }),
  );
});

test.each([
  '0.3',
  '0.30',
  '0.31',
  '1',
  '1.00',
  '1.01',
  '01.0',
  '1.0.',
  '1.0.01',
  '1.0.0.0',
  '1.1',
  '10.0',
  '99.0',
  'abc',
  'v1.0',
  ' 1.0',
  '1.0\n',
  '1.0, 1.0',
])('%j is refused', (text) => {
  expect(() => negotiateVersion(text)).toThrow(expect.objectContaining({ code: 'version_not_supported' }));
});

test('the refusal shows what was sent, on one line and cut', () => {
  expect(() => negotiateVersion('2.0')).toThrow(
    'A2A-Version "2.0" is not supported; this server speaks 1.0. Send the header "A2A-Version: 1.0".',
  );
  expect(() => negotiateVersion(`a\n${'b'.repeat(1_000)}`)).toThrow(`A2A-Version "a\\n${'b'.repeat(38)}…" is`);
});
