import { CodedError } from '../base/errors.ts';
import { anonymousCaller } from '../model/scope.ts';
import type { Authenticator, Credentials } from '../operations/authenticator.ts';
import { isLoopback } from './loopback.ts';

export interface NoAuthenticationOptions {
  readonly allowAnonymous?: boolean;
  /** The name under which the server is known; a request may name it as its host. */
  readonly publicUrl?: string;
  /** Whether pages of this origin may call; what CORS allows. None by default. */
  readonly allowsOrigin?: (origin: string) => boolean;
}

/**
 * Nobody is asked who they are: every caller is the one anonymous principal. So only this machine may call, unless the
 * operator lets anybody in. That goes for web pages too: one of another site that this machine's browser shows could
 * reach the port, by a name that it had pointed here (DNS rebinding) or by a request that needs no preflight.
 */
export function noAuthentication(options: NoAuthenticationOptions = {}): Authenticator {
  const publicHost = options.publicUrl === undefined ? undefined : new URL(options.publicUrl).host;
  return {
    name: 'none',
    async authenticate(credentials) {
      if (options.allowAnonymous === true) return anonymousCaller;
      if (!comesFromHere(credentials)) {
        throw refused(
          'This server asks nobody who they are, so it serves its own machine only. Its operator can set up authentication.',
        );
      }
      const host = credentials.header('host');
      if (host !== undefined && host !== publicHost && !isLocalHost(host)) {
        throw refused(
          'This server asks nobody who they are, so it answers only to names of its own machine, such as localhost.',
        );
      }
      const origin = credentials.header('origin');
      if (origin !== undefined && !isOwnOrigin(origin) && options.allowsOrigin?.(origin) !== true) {
        throw refused(
          'This server asks nobody who they are, so pages of other sites may not call it. Its operator can allow an origin (cors).',
        );
      }
      return anonymousCaller;
    },
  };
}

function comesFromHere({ remoteAddress }: Credentials): boolean {
  return remoteAddress === undefined || isLoopback(remoteAddress);
}

/** `localhost:4000`, `127.0.0.1`, `[::1]:4000`. */
function isLocalHost(host: string): boolean {
  return isLoopback(host.replace(/:\d+$/, ''));
}

function isOwnOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname);
}

function refused(message: string): CodedError {
  return new CodedError('unauthenticated', { message });
}
