import type { z } from 'zod';
import type { Call } from '../../operations/operations.ts';
import type { DoorParts, DoorPlace } from '../door.ts';
import type { HttpRequest, HttpResponse } from '../http/exchange.ts';

/** What a native route works on. */
export interface NativeExchange {
  readonly parts: DoorParts;
  readonly request: HttpRequest;
  readonly call: Call;
  readonly place: DoorPlace;
  /** What stood in the path. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface QueryParameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

export interface NativeRoute {
  readonly name: string;
  readonly summary: string;
  readonly query?: readonly QueryParameter[];
  readonly body?: z.ZodType;
  /** What it may answer beside JSON. */
  readonly streams?: true;
  readonly run: (exchange: NativeExchange) => Promise<HttpResponse>;
}
