import { CodedError } from '../base/errors.ts';
import type { Scope } from '../model/scope.ts';
import type { Authenticator } from '../operations/authenticator.ts';

const TOKEN = /^Bearer ([a-z0-9-]{1,64})$/i;

/** For tests with several principals: the bearer token is the principal, and `expired` is a token that no longer counts. */
export function testAuthenticator(): Authenticator {
  return {
    name: 'test',
    challenge: 'Bearer realm="test"',
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ bearer: [] }],
    async authenticate(credentials) {
      const header = credentials.header('authorization');
      const name = TOKEN.exec(header ?? '')?.[1];
      if (name === undefined || name === 'expired') {
        throw new CodedError('unauthenticated', {
          message: header === undefined ? 'Send "Authorization: Bearer TOKEN".' : 'This token is not valid.',
        });
      }
      return { principal: { id: name }, scope: `user=${name}` as Scope };
    },
  };
}
