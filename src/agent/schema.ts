/** Standard Schema v1 (standardschema.dev): what zod, valibot and arktype schemas are, so that authors bring their own. */
export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type TypesOf<S> = S extends { readonly '~standard': { readonly types?: infer T } } ? NonNullable<T> : never;
/** What a handler gets: defaults applied, values transformed. */
export type SchemaOutput<S> = TypesOf<S> extends { readonly output: infer Output } ? Output : unknown;
/** What a caller sends. */
export type SchemaInput<S> = TypesOf<S> extends { readonly input: infer Input } ? Input : unknown;
