/** Addresses as they are stored: looked up by keyed hash, and sealed. Source: DESIGN section 3 (secrets). @module */
import { createHmac } from 'node:crypto'
import type { EmailAddress } from '../ports/identity-accounts.js'
import type { DataKeyStore } from '../ports/store-data-keys.js'
import type { Random } from '../ports/world.js'
import { type MasterKey, parseMasterKey } from '../secrets/master-key.js'
import { SealedSecretError } from '../secrets/seal.js'
import { openSealed, sealText } from '../secrets/seal-text.js'

/** Makes the stored forms of a normalised address. */
export type EmailKeys = (address: string) => EmailAddress

/** The purpose under which the key of addresses is stored, and its place for sealing. */
const purpose = 'email'
const place = { purpose: 'data-key', boundTo: `data_keys|${purpose}` } as const

/** What this needs. */
export interface EmailKeyDeps {
  readonly dataKeys: DataKeyStore
  readonly keys: MasterKey
  readonly random: Pick<Random, 'bytes'>
}

/** Builds the maker on the key of addresses, 32 random bytes. */
export function createEmailKeys(dataKey: Uint8Array, random: Pick<Random, 'bytes'>): EmailKeys {
  const own = parseMasterKey(Buffer.from(dataKey).toString('base64url'))
  return (address) => {
    const key = createHmac('sha256', own.current.derive('email-hash')).update(address, 'utf8').digest('hex')
    return { address, key, sealed: sealText(own, random, { purpose: 'email', boundTo: emailPlace(key) }, address) }
  }
}

/**
 * Opens the key of addresses, which lies sealed in the database and is made by whoever needs it first. A new master key seals it anew, and every
 * hash stays as it is.
 * @throws SealedSecretError `ERR_SECRET_UNREADABLE` when none of the master keys opens it.
 */
export async function openEmailKey({ dataKeys, keys, random }: EmailKeyDeps): Promise<Uint8Array> {
  const stored = await dataKeys.obtain(purpose, sealText(keys, random, place, random.bytes(32)))
  const opened = openSealed(keys, place, stored)
  if (opened === null) throw new SealedSecretError('The key of e-mail addresses')
  return opened
}

/** Seals the key of addresses with the newest master key. Resolves whether it was sealed with another one. */
export async function resealEmailKey(deps: EmailKeyDeps): Promise<boolean> {
  const { dataKeys, keys, random } = deps
  const opened = await openEmailKey(deps)
  const stored = await dataKeys.obtain(purpose, sealText(keys, random, place, opened))
  if (stored.keyVersion === keys.current.version) return false
  return dataKeys.replace(purpose, stored, sealText(keys, random, place, opened))
}

function emailPlace(key: string): string {
  return `identity_accounts.email|${key}`
}
