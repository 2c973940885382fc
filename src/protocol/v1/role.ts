import { quoted } from '../quoted.ts';
import { ROLE_NAMES } from './names.ts';
import { kindOf, type ObjectReader } from './read.ts';

const WRITE = 'write "ROLE_USER"';

/**
 * The role of a message that a client sends: it can only be the user's. `"user"` is taken as a courtesy, since it
 * has one meaning; what else is not `ROLE_USER` (or its number) is refused with what to write instead.
 */
export function decodeClientRole(reader: ObjectReader): 'user' {
  const role = reader.any('role');
  if (role === 'ROLE_USER' || role === 'user' || role === ROLE_NAMES.indexOf('ROLE_USER')) return 'user';
  reader.problem('role', problemOf(role));
  return 'user';
}

function problemOf(role: unknown): string {
  if (role === undefined) return `is required; ${WRITE}`;
  const name = typeof role === 'number' ? ROLE_NAMES[role] : role;
  if (name === 'ROLE_AGENT' || name === 'agent') return `a client does not speak as the agent; ${WRITE}`;
  if (typeof role === 'string' || typeof role === 'number') return `${quoted(String(role))} is not a role; ${WRITE}`;
  return `must be a role, not ${kindOf(role)}; ${WRITE}`;
}
