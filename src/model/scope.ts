import type { Brand } from '../base/brand.ts';

/** The isolation key every row carries. Canonical text, compared by equality, never by prefix. */
export type Scope = Brand<string, 'Scope'>;

/** The authenticated caller. It is kept with each turn, so it holds no token and no secret. */
export interface Principal {
  /** Issuer and subject in one text; `anonymous` when nobody was authenticated. */
  readonly id: string;
  readonly roles?: readonly string[];
}

/** Who calls, and which rows that lets them see. */
export interface Caller {
  readonly principal: Principal;
  readonly scope: Scope;
}

export const anonymousCaller: Caller = { principal: { id: 'anonymous' }, scope: 'anonymous' as Scope };
