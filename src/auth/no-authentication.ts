import { CodedError } from '../base/errors.ts';
import { anonymousCaller } from '../model/scope.ts';
import type { Authenticator } from '../operations/authenticator.ts';
import { isLoopback } from './loopback.ts';

/**
 * Nobody is asked who they are: every caller is the one anonymous principal. So only this machine may call, unless the
 * operator lets anybody in.
 */
export function noAuthentication(options: { readonly allowAnonymous?: boolean } = {}): Authenticator {
  return {
    name: 'none',
    async authenticate({ remoteAddress }) {
      if (options.allowAnonymous === true || remoteAddress === undefined || isLoopback(remoteAddress)) {
        return anonymousCaller;
      }
      throw new CodedError('unauthenticated', {
        message:
          'This server asks nobody who they are, so it serves its own machine only. Its operator can set up authentication.',
      });
    },
  };
}
