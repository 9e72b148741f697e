/** Seals signing secrets, each bound to its row. Source: docs/decisions/secrets.md. @module */
import { CoreError } from '../errors.js'
import type { SealedSecret } from '../ports/store-integrations.js'
import type { Random } from '../ports/world.js'
import type { MasterKey } from './master-key.js'
import { openSealed, type SealedPlace, sealText } from './seal-text.js'

/** A sealed secret cannot be opened: its key is not configured, or the row was altered or moved. */
export class SealedSecretError extends CoreError {
  override readonly name = 'SealedSecretError'
  readonly code = 'ERR_SECRET_UNREADABLE'
  readonly retryable = false
  /** @param what - Names the secret at the beginning of the message. */
  constructor(what: string) {
    super(`${what} cannot be opened with the master keys given. Add the key it was sealed with, or rotate the secret.`)
  }
}

/** Seals a secret for one integration's row; moved to another row it does not open. */
export function sealSecret(
  keys: MasterKey,
  random: Pick<Random, 'bytes'>,
  address: string,
  secret: string,
): SealedSecret {
  return sealText(keys, random, rowOf(address), secret)
}

/**
 * Opens a sealed secret.
 * @param kind - Names the secret in the error.
 * @throws SealedSecretError `ERR_SECRET_UNREADABLE`.
 */
export function openSecret(keys: MasterKey, address: string, sealed: SealedSecret, kind = 'signing secret'): string {
  const opened = openSealed(keys, rowOf(address), sealed)
  // An empty secret signs nothing.
  if (opened === null || opened.length === 0) throw new SealedSecretError(`The ${kind} of integration ${address}`)
  return Buffer.from(opened).toString('utf8')
}

/** All signing secrets of an integration share one place, so that activating one needs no resealing. */
function rowOf(address: string): SealedPlace {
  return { purpose: 'signing-secret', boundTo: `integrations.signing_secret|${address}` }
}
