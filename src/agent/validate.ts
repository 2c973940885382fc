import type { FieldViolation } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { issueText } from './issue-text.ts';
import type { Schema, SchemaIssue } from './schema.ts';

export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly violations: readonly FieldViolation[] };

/**
 * Asks an author's schema about a value. What it gives back has the schema's defaults and transforms applied; what it
 * refuses is named by field, from `path` on. A schema that throws is the author's bug: the error goes through.
 */
export async function validate(schema: Schema, value: unknown, path: string): Promise<Validation> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  const violations = result.issues
    .flatMap(meantBranch)
    .slice(0, limits.violationsMax)
    .map((issue) => violation(issue, path));
  return { ok: false, violations: violations.length > 0 ? violations : [{ field: path, description: 'is refused' }] };
}

/**
 * Of a union that nothing fitted, the one branch that was meant: the only one that took the value for its own and found
 * fault inside it. zod reports the branches; where several or none are meant, the union itself is refused.
 */
function meantBranch(issue: SchemaIssue): readonly SchemaIssue[] {
  const branches: unknown = (issue as { readonly errors?: unknown }).errors;
  if (!Array.isArray(branches)) return [issue];
  const meant = (branches as readonly (readonly SchemaIssue[])[]).filter((branch) =>
    branch.every((inner) => (inner.path ?? []).length > 0),
  );
  const only = meant.length === 1 ? meant[0] : undefined;
  if (only === undefined) return [issue];
  return only.map((inner) => ({ ...inner, path: [...(issue.path ?? []), ...(inner.path ?? [])] }));
}

function violation(issue: SchemaIssue, path: string): FieldViolation {
  const keys = (issue.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment));
  const field = keys.reduce<string>(
    (at, key) => (typeof key === 'number' ? `${at}[${key}]` : `${at}.${String(key)}`),
    path,
  );
  return { field, description: issueText(issue, keys.map(String).join('.')) };
}
