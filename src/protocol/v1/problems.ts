import { type FieldViolation, fieldErrors } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';

/**
 * What is wrong with one request, collected while it is read, so that a caller learns of all faults at once.
 * Readers note a problem here and go on with a stand-in; `throwIfAny` keeps stand-ins from ever leaving.
 */
export class Problems {
  readonly #found: FieldViolation[] = [];

  add(field: string, description: string): void {
    if (this.#found.length < limits.violationsMax) this.#found.push({ field, description });
  }

  /** Throws one `invalid_argument` that names every field noted. */
  throwIfAny(): void {
    if (this.#found.length > 0) throw fieldErrors(this.#found);
  }
}
