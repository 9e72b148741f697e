/** Makes the stored forms of e-mail addresses, hashed and sealed. Source: docs/decisions/secrets.md. @module */
import { createHmac } from 'node:crypto'
import { ShareRequestError } from '../identity/errors.js'
import type { EmailAddress } from '../ports/identity-accounts.js'
import type { DataKeyStore } from '../ports/store-data-keys.js'
import type { Random } from '../ports/world.js'
import { openDataKey, sealDataKey } from '../secrets/data-key.js'
import { type MasterKey, parseMasterKey } from '../secrets/master-key.js'
import { sealText } from '../secrets/seal-text.js'
import { normaliseEmail } from './normalise-email.js'

/** Makes the stored forms of a normalised address. */
export type EmailKeys = (address: string) => EmailAddress

/** The stored forms of an address in any spelling. @throws ShareRequestError `ERR_SHARE_INVALID` if it is invalid. */
export function parseEmail(input: string, emails: EmailKeys): EmailAddress {
  const address = normaliseEmail(input)
  if (address === null) throw new ShareRequestError('email must be a valid email address')
  return emails(address)
}

/** The purpose under which the key of addresses is stored. */
const purpose = 'email'

/** Builds the maker on the key of addresses, 32 random bytes. */
export function createEmailKeys(dataKey: Uint8Array, random: Pick<Random, 'bytes'>): EmailKeys {
  const own = parseMasterKey(Buffer.from(dataKey).toString('base64url'))
  return (address) => {
    const key = createHmac('sha256', own.current.derive('email-hash')).update(address, 'utf8').digest('hex')
    const boundTo = `identity_accounts.email|${key}`
    return { address, key, sealed: sealText(own, random, { purpose: 'email', boundTo }, address) }
  }
}

/**
 * Opens the key of addresses. It is stored sealed; the first call makes it. Resealing it with a new master key leaves
 * every hash unchanged.
 * @throws SealedSecretError `ERR_SECRET_UNREADABLE` when none of the master keys opens it.
 */
export async function openEmailKey({
  dataKeys,
  keys,
  random,
}: {
  readonly dataKeys: DataKeyStore
  readonly keys: MasterKey
  readonly random: Pick<Random, 'bytes'>
}): Promise<Uint8Array> {
  const stored = await dataKeys.obtain(purpose, sealDataKey(keys, random, purpose, random.bytes(32)))
  return openDataKey(keys, purpose, stored)
}
