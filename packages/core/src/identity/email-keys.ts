/** Addresses as keys: looked up by keyed hash, stored sealed. Source: DESIGN section 3 (secrets), issue of personal data at rest. @module */
import { createHmac } from 'node:crypto'
import type { EmailAddress } from '../ports/identity-accounts.js'
import type { Random } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { sealText } from '../secrets/seal-text.js'

/** Makes the stored forms of a normalised address. */
export type EmailKeys = (address: string) => EmailAddress

/**
 * Builds the maker on the data key of addresses, which lies sealed in the database: a new master key seals it anew, and every hash stays the same.
 * @param dataKey - 32 random bytes.
 */
export function createEmailKeys(dataKey: Uint8Array, keys: MasterKey, random: Pick<Random, 'bytes'>): EmailKeys {
  return (address) => {
    const key = createHmac('sha256', dataKey).update(address, 'utf8').digest('hex')
    return {
      address,
      key,
      sealed: sealText(keys, random, { purpose: 'email', boundTo: `identity_accounts.email|${key}` }, address),
    }
  }
}
