/** Collects the flaws of a legacy request. Source: docs/interface.md 4.3 (`400`). @module */
import type { LegacyErrorBody } from '@payment-integration/contract'
import { LegacyRequestError } from '../errors.js'

/** Collects flaws, so that an answer names all of them at once. */
export class RequestFlaws {
  readonly #flaws: LegacyErrorBody['details'] = []

  /** Notes a flaw of a parameter or field. `message` contains no value of the request. */
  add(name: string, code: string, message: string): void {
    this.#flaws.push({ code, message: `${name} ${message}`, path: [name] })
  }

  /** @throws LegacyRequestError `ERR_LEGACY_REQUEST_INVALID` when there is a flaw. */
  throwIfAny(): void {
    if (this.#flaws.length > 0) throw new LegacyRequestError(this.#flaws)
  }
}
