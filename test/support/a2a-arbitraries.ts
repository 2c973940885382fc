import fc, { type Arbitrary } from 'fast-check';

/**
 * JSON of A2A requests. With `noise` a field is now and then null, of another type, or given under both spellings;
 * without it every document is one that a correct client could send.
 */
export interface Noise {
  readonly noise: boolean;
}

/** Parsed JSON, as a door sees it: no undefined, no shared objects, no -0. */
function asParsed<T>(arbitrary: Arbitrary<T>): Arbitrary<never> {
  return arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as never);
}

export function sendRequests({ noise }: Noise): Arbitrary<never> {
  const authentication = record({ scheme: fc.constantFrom('Bearer', 'Basic'), credentials: text }, { noise }, [
    'scheme',
  ]);
  const push = record({ tenant: text, id, taskId: id, url: fc.webUrl(), token: text, authentication }, { noise }, [
    'url',
  ]);
  const configuration = record(
    {
      acceptedOutputModes: fc.array(fc.constantFrom('text/plain', 'application/json'), { maxLength: 3 }),
      taskPushNotificationConfig: push,
      historyLength: int32({ noise }),
      returnImmediately: fc.boolean(),
    },
    { noise },
  );
  const message = record(
    {
      messageId: id,
      contextId: id,
      taskId: id,
      role: noise
        ? fc.oneof({ weight: 30, arbitrary: userRole }, fc.constantFrom('ROLE_AGENT', 2, 0, 'USER', 7))
        : userRole,
      parts: fc.array(part({ noise }), { minLength: 1, maxLength: 4 }),
      metadata: struct,
      extensions: fc.array(text, { maxLength: 3 }),
      referenceTaskIds: fc.array(id, { maxLength: 3 }),
    },
    { noise },
    ['messageId', 'role', 'parts'],
  );
  return asParsed(record({ tenant: text, message, configuration, metadata: struct }, { noise }, ['message']));
}

export function listRequests({ noise }: Noise): Arbitrary<never> {
  const state = fc.constantFrom('TASK_STATE_WORKING', 'TASK_STATE_UNSPECIFIED', 'TASK_STATE_AUTH_REQUIRED', 0, 1, 8);
  return asParsed(
    record(
      {
        tenant: text,
        contextId: id,
        status: noise ? fc.oneof(state, fc.constantFrom('working', 9, -1, 1.5, '3')) : state,
        pageSize: noise ? int32({ noise }) : fc.integer({ min: 1, max: 100 }),
        pageToken: text,
        historyLength: int32({ noise }),
        statusTimestampAfter: timestamp({ noise }),
        includeArtifacts: fc.boolean(),
      },
      { noise },
    ),
  );
}

const userRole = fc.constantFrom('ROLE_USER', 1);
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('\u0000', '', 'a\nb'));
const id = fc.oneof(
  { weight: 20, arbitrary: fc.uuid() },
  { weight: 5, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 256 }) },
);
const struct = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 });

function part({ noise }: Noise): Arbitrary<unknown> {
  const common = { mediaType: fc.constantFrom('text/plain', 'image/png'), filename: text, metadata: struct };
  const contents = {
    text,
    raw: base64({ noise }),
    url: fc.webUrl(),
    data: fc.jsonValue({ maxDepth: 3 }),
  };
  const one = fc.oneof(
    ...Object.entries(contents).map(([name, content]) => record({ [name]: content, ...common }, { noise }, [name])),
  );
  return noise ? fc.oneof({ weight: 50, arbitrary: one }, record({ ...contents, ...common }, { noise })) : one;
}

function base64({ noise }: Noise): Arbitrary<string> {
  const encoded = fc
    .tuple(fc.uint8Array({ maxLength: 40 }), fc.constantFrom('base64', 'base64url'), fc.boolean(), fc.boolean())
    .map(([bytes, alphabet, padded, wrapped]) => {
      const whole = Buffer.from(bytes).toString(alphabet as 'base64' | 'base64url');
      const unpadded = padded ? whole : whole.replace(/=+$/, '');
      return wrapped ? unpadded.replace(/.{10}/g, '$&\r\n') : unpadded;
    });
  const almost = fc.string({
    unit: fc.constantFrom('A', 'z', '9', '+', '/', '-', '_', ' ', '\n', '*', 'Ł'),
    maxLength: 9,
  });
  return noise ? fc.oneof({ weight: 6, arbitrary: encoded }, almost) : encoded;
}

function int32({ noise }: Noise): Arbitrary<unknown> {
  const good = fc.oneof(fc.nat(120), fc.nat(120).map(String), fc.constantFrom(10.0, '1e2', '12.0', 2 ** 31 - 1));
  const bad = fc.constantFrom(-1, 0, 101, 1.5, 2 ** 31, -(2 ** 31), '', ' 5', '1.5', 'ten', '1e400', 1e300, '-1');
  return noise ? fc.oneof({ weight: 3, arbitrary: good }, bad) : good;
}

function timestamp({ noise }: Noise): Arbitrary<string> {
  const moment = fc.date({ min: new Date(0), max: new Date('2200-01-01T00:00:00Z'), noInvalidDate: true });
  const good = fc
    .tuple(moment, fc.constantFrom('', '.5', '.123', '.000001', '.999999999'), fc.constantFrom('Z', '+02:00', '-23:59'))
    .map(([at, fraction, zone]) => `${at.toISOString().slice(0, 19)}${fraction}${zone}`);
  const bad = fc.constantFrom(
    '2026-01-31',
    '2026-13-01T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-31T25:00:00Z',
    '2026-01-31T00:00:00',
    '2026-01-31t00:00:00z',
    '2026-01-31T00:00:00.1234567890Z',
    '0000-12-31T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.5Z',
    '',
    'yesterday',
  );
  return noise ? fc.oneof({ weight: 2, arbitrary: good }, bad) : good;
}

/** An object of some of the fields, each under one of its two names; `required` ones are there, but for noise. */
function record(
  fields: Readonly<Record<string, Arbitrary<unknown>>>,
  { noise }: Noise,
  required: readonly string[] = [],
): Arbitrary<unknown> {
  const entries = Object.entries(fields).map(([name, value]) => {
    const given = noise ? fc.oneof({ weight: 60, arbitrary: value }, { weight: 1, arbitrary: junk }) : value;
    const present = fc
      .tuple(given, spelling(name, noise))
      .map(([item, names]) => names.map((as): [string, unknown] => [as, item]));
    const absentWeight = required.includes(name) ? (noise ? 1 : 0) : 30;
    return fc.oneof({ weight: absentWeight, arbitrary: fc.constant([]) }, { weight: 60, arbitrary: present });
  });
  const stranger = fc.oneof(
    fc.constant([]),
    fc.constant([['some_field', { of: ['the', 'future'] }] as [string, unknown]]),
  );
  return fc.tuple(...entries, stranger).map((found) => Object.fromEntries(found.flat() as [string, unknown][]));
}

const junk = fc.oneof(fc.constant(null), fc.jsonValue({ maxDepth: 1 }));

function spelling(name: string, noise: boolean): Arbitrary<readonly string[]> {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const single = fc.constantFrom([name], [name], [snake]);
  return noise ? fc.oneof({ weight: 100, arbitrary: single }, fc.constant([name, snake])) : single;
}
