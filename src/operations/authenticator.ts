import type { JsonObject } from '../base/json.ts';
import type { Caller } from '../model/scope.ts';

/** What a request brings to prove who sent it. */
export interface Credentials {
  /** The value of a header or of gRPC metadata; names are lower case. */
  header(name: string): string | undefined;
  /** The peer's address; absent when the call came from inside the process. */
  readonly remoteAddress?: string;
}

/** Who calls. An implementation lives under `auth/`; every binding asks it before it looks at anything else. */
export interface Authenticator {
  readonly name: string;
  /** The caller and the rows that lets them see. Throws `unauthenticated` when the credentials are missing or wrong. */
  authenticate(credentials: Credentials): Promise<Caller>;
  /** `WWW-Authenticate` of a refusal; absent where there is nothing to send. */
  readonly challenge?: string;
  /** What the agent card says: `SecurityScheme` objects by name, in ProtoJSON. */
  readonly securitySchemes?: JsonObject;
  /** Each names schemes that are all needed, with their scopes; one of them is enough. */
  readonly securityRequirements?: readonly Readonly<Record<string, readonly string[]>>[];
}
