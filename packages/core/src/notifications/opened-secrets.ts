/** Signing secrets that were opened a moment ago: opening costs more than signing. @module */
import type { SealedSecret } from '../ports/store-integrations.js'

/** Opens a signing secret; throws when it cannot be read. */
export type OpenSecret = (sealed: SealedSecret, integrationAddress: string) => string

/** How many opened secrets are kept; the oldest goes first. */
export const openedSecretsKept = 1_024

/**
 * Keeps what `open` gave. A secret is kept for its sealed text and the integration together: the same text in another row has to be
 * opened, and is refused there. What cannot be opened is not kept.
 */
export function keepOpened(open: OpenSecret, most = openedSecretsKept): OpenSecret {
  const kept = new Map<string, string>()
  return (secret, integrationAddress) => {
    const name = `${integrationAddress} ${secret.keyVersion} ${secret.sealed}`
    const known = kept.get(name)
    if (known !== undefined) return known
    const opened = open(secret, integrationAddress)
    const oldest = kept.size >= most ? kept.keys().next().value : undefined
    if (oldest !== undefined) kept.delete(oldest)
    kept.set(name, opened)
    return opened
  }
}
