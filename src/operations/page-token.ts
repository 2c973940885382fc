import { fieldError } from '../base/errors.ts';
import { canonicalJson, isJsonObject, type JsonObject } from '../base/json.ts';
import type { Secrets } from '../runtime/ports.ts';
import type { Call } from './operations.ts';

/** The listing a token belongs to: it is good for this caller, this agent and these filters alone. */
export interface Listing {
  readonly secrets: Secrets;
  readonly call: Call;
  readonly of: 'tasks' | 'sessions';
  readonly filters: JsonObject;
}

/**
 * A place in a listing as text for a client. It is sealed, since row numbers would tell one tenant how busy the others
 * are, and bound to its listing, so that it finds nothing anywhere else.
 */
export function writePageToken(listing: Listing, place: JsonObject): string {
  const text = JSON.stringify({ ...place, listing: digest(listing) });
  return Buffer.from(listing.secrets.seal(Buffer.from(text))).toString('base64url');
}

/** The place of a token, or InvalidParams on `pageToken`. */
export function readPageToken(listing: Listing, token: string): JsonObject {
  const place = unseal(listing.secrets, token);
  if (place?.listing === digest(listing)) return place;
  throw fieldError(
    'pageToken',
    'is not a token of this listing: send it with the filters and the caller it was given for',
  );
}

function digest({ secrets, call, of, filters }: Listing): string {
  const bound = { agent: call.agent.name, scope: call.caller.scope, of, filters };
  return secrets.hmac('page-token', canonicalJson(bound)).slice(0, 32);
}

/** Undefined for whatever we did not write: how it is broken is nobody's business. */
function unseal(secrets: Secrets, token: string): JsonObject | undefined {
  try {
    const place: unknown = JSON.parse(Buffer.from(secrets.open(Buffer.from(token, 'base64url'))).toString());
    return isJsonObject(place) ? place : undefined;
  } catch {
    return undefined;
  }
}
