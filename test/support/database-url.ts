import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
  }
}

/** The PostgreSQL server of this test run. Only tests of the project `full` have one. */
export function databaseUrl(): string {
  return inject('databaseUrl');
}
