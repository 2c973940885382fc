import type { SchemaIssue } from './schema.ts';

/** What the libraries say of an issue beside Standard Schema's two fields; each is there in some of them only. */
interface IssueFacts {
  readonly code?: unknown;
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: unknown;
  readonly pattern?: unknown;
  readonly format?: unknown;
  readonly expected?: unknown;
  readonly values?: unknown;
  readonly keys?: unknown;
}

/** Texts that the libraries make by themselves. An author's own text never begins like this, and is kept as it is. */
const LIBRARY_TEXT =
  /^(Invalid (input|string|option|key|type|length|value|format|element)|Too (small|big)|Unrecognized key)/;
/** The words that a description may begin with to follow the name of its field: "cents must be positive". */
const PREDICATE = /^(must|is|has|have|needs|should|may|can|cannot|contains|expects)\b/;

/**
 * One issue as a phrase that follows the name of its field. zod's and valibot's stock texts are turned into one
 * ("must be positive"); arktype begins with the name already; an author's own text is kept.
 */
export function issueText(issue: SchemaIssue, name: string): string {
  const { message } = issue;
  const facts = issue as unknown as IssueFacts;
  if (LIBRARY_TEXT.test(message) || (facts.code === 'invalid_format' && message.startsWith('Invalid '))) {
    return phrase(facts, message) ?? expectation(message);
  }
  const text = name !== '' && message.startsWith(`${name} `) ? message.slice(name.length + 1) : message;
  return PREDICATE.test(text) ? text : `is refused: ${text}`;
}

function phrase(facts: IssueFacts, message: string): string | undefined {
  switch (facts.code) {
    case 'invalid_type':
      if (message.endsWith('received undefined')) return 'is required';
      return typeof facts.expected === 'string' ? `must be ${typeWord(facts.expected)}` : undefined;
    case 'invalid_format':
      if (facts.format === 'regex' && typeof facts.pattern === 'string') return `must match ${bare(facts.pattern)}`;
      return typeof facts.format === 'string' ? `must be a valid ${facts.format}` : undefined;
    case 'invalid_value':
      return Array.isArray(facts.values)
        ? `must be ${facts.values.length > 1 ? 'one of ' : ''}${facts.values.map((value) => JSON.stringify(value)).join(', ')}`
        : undefined;
    case 'too_small':
      return bound(facts, { limit: facts.minimum, least: true });
    case 'too_big':
      return bound(facts, { limit: facts.maximum, least: false });
    case 'invalid_union':
      return 'fits none of the forms that are taken';
    case 'unrecognized_keys':
      return Array.isArray(facts.keys)
        ? `must not have ${facts.keys.map((key) => JSON.stringify(key)).join(', ')}`
        : undefined;
    default:
      return undefined;
  }
}

function bound(facts: IssueFacts, { limit, least }: { readonly limit: unknown; readonly least: boolean }): string {
  const edge = String(limit);
  const inclusive = facts.inclusive !== false;
  switch (facts.origin) {
    case 'string':
      return least && edge === '1'
        ? 'must not be empty'
        : `must have at ${least ? 'least' : 'most'} ${edge} characters`;
    case 'array':
    case 'set':
      return least && edge === '1' ? 'must not be empty' : `must have at ${least ? 'least' : 'most'} ${edge} items`;
    default:
      if (edge === '0' && least && !inclusive) return 'must be positive';
      if (edge === '0' && least) return 'must not be negative';
      return `must be ${inclusive ? `at ${least ? 'least' : 'most'}` : least ? 'more than' : 'less than'} ${edge}`;
  }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function typeWord(expected: string): string {
  return TYPE_WORDS[expected] ?? expected;
}

/** `/^a$/i` without its slashes, as it is written in a JSON Schema. */
function bare(pattern: string): string {
  return /^\/(.*)\/[a-z]*$/s.exec(pattern)?.[1] ?? pattern;
}

/** valibot: `Invalid value: Expected >=1 but received 0`. */
function expectation(message: string): string {
  const match = /: Expected (.*) but received (.*)$/s.exec(message);
  if (match === null) return `is refused: ${message}`;
  return message.startsWith('Invalid key') && match[2] === 'undefined' ? 'is required' : `must be ${match[1]}`;
}
