/** E-mail addresses: one spelling, stored forms, and one-time codes. Source: docs/interface.md 4.2. @module */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { shareRequestLimits } from '@payment-integration/contract'
import { InvalidShareRequestError } from '../errors.js'
import { isExpired } from '../internal/values.js'
import type { EmailAddress } from '../ports/identity.js'
import type { RandomSource } from '../ports/runtime.js'
import { type DataKeyStore, type MasterKey, parseMasterKey } from '../secrets/keys.js'
import { openDataKey, sealDataKey, sealText } from '../secrets/seal.js'
import type { StoredEmailCode } from './identity-store.js'

type Random = Pick<RandomSource, 'bytes'>

/** Longest address and longest part before the `@`, in bytes of UTF-8. Source: RFC 5321 4.5.3.1. */
const maxBytes = { address: 254, local: 64 } as const

/** Letters, digits and signs of a dot-atom, beyond ASCII too (RFC 6531): no spaces, quotes or control characters. */
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const domainName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Normalizes an address; null: it is invalid. The part before the `@` is in lower case and Unicode form NFC, the domain
 * in ASCII (UTS 46). A final sigma counts as a sigma: both have the same capital. NFKC would also join characters that
 * only look alike and name different mailboxes.
 * @example
 * import { normalizeEmail } from '@payment-integration/core/identity'
 * normalizeEmail(' Ada@Shop.Example ') // 'ada@shop.example'
 */
export function normalizeEmail(input: string): string | null {
  if (input.length > shareRequestLimits.email) return null
  const text = input.trim()
  const at = text.lastIndexOf('@')
  // These characters end a host name in a URL: `domainToASCII` would silently cut off what follows.
  if (at < 1 || /[/?#:\\[\]%]/.test(text.slice(at + 1))) return null
  const local = text.slice(0, at).normalize('NFC').toLowerCase().replaceAll('\u03c2', '\u03c3').normalize('NFC')
  // With or without a trailing dot, it is the same domain.
  const domain = domainToASCII(text.slice(at + 1).replace(/\.$/, '')).toLowerCase()
  if (!localPart.test(local) || !domainName.test(domain) || /^[0-9.]+$/.test(domain)) return null
  const address = `${local}@${domain}`
  return Buffer.byteLength(local) > maxBytes.local || Buffer.byteLength(address) > maxBytes.address ? null : address
}

export const invalidEmailMessage = 'email must be a valid email address'

/** Returns the stored forms of a normalized address: its keyed hash, and the address sealed. */
export type SealEmail = (address: string) => EmailAddress

/** The stored forms of an address in any spelling. @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID`. */
export function parseAndSealEmail(input: string, sealEmail: SealEmail): EmailAddress {
  const address = normalizeEmail(input)
  if (address === null) throw new InvalidShareRequestError(invalidEmailMessage)
  return sealEmail(address)
}

const dataKeyPurpose = 'email'

export function createSealEmail(dataKey: Uint8Array, random: Random): SealEmail {
  const emailKeys = parseMasterKey(Buffer.from(dataKey).toString('base64url'))
  return (address) => {
    const key = createHmac('sha256', emailKeys.current.derive('email-hash')).update(address, 'utf8').digest('hex')
    const boundTo = `identity_accounts.email|${key}`
    return { address, key, sealed: sealText(emailKeys, random, { purpose: 'email', boundTo }, address) }
  }
}

/** The key that hashes and seals addresses. The first call stores it; a new master key leaves every hash unchanged. */
export async function openEmailKey(dataKeys: DataKeyStore, keys: MasterKey, random: Random): Promise<Uint8Array> {
  const stored = await dataKeys.obtain(dataKeyPurpose, sealDataKey(keys, random, dataKeyPurpose, random.bytes(32)))
  return openDataKey(keys, dataKeyPurpose, stored)
}

export const codeLifetimeMs = 10 * 60_000
const maxCodeTries = 5
/** Digits of a code in base 32: 60 bits, too many to guess. */
const codeLength = 12
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

export type EmailCodes = ReturnType<typeof createEmailCodes>

/** Issues and judges one-time codes. Only a keyed hash of a code is stored, bound to its address. */
export function createEmailCodes(key: Uint8Array, random: Random) {
  const hashCode = (emailKey: string, code: string) =>
    createHmac('sha256', key).update(`${emailKey}|${code}`, 'utf8').digest('hex')
  return {
    /** Issues a random code for an address, with its stored form. */
    issue(emailKey: string, now: number) {
      const code = Array.from(random.bytes(codeLength), (byte) => alphabet[byte & 31]).join('')
      const stored = { hash: hashCode(emailKey, code), expiresAt: now + codeLifetimeMs, triesLeft: maxCodeTries }
      return { code, stored }
    },
    /**
     * Judges a typed code; `rejection` is null when it is accepted, and `nextCode` is the code to store next. Case,
     * spaces and hyphens do not matter; the comparison takes constant time.
     */
    judge(emailKey: string, typed: string, stored: StoredEmailCode | null, now: number) {
      // Hashed even without a stored code, so that timing does not reveal whether there is one.
      const typedHash = Buffer.from(hashCode(emailKey, typed.replace(/[\s-]/g, '').toUpperCase()), 'hex')
      if (stored === null) return { rejection: 'no_code', nextCode: null } as const
      const expected = Buffer.from(stored.hash, 'hex')
      const isEqual = typedHash.length === expected.length && timingSafeEqual(typedHash, expected)
      if (isExpired(stored.expiresAt, now, codeLifetimeMs))
        return { rejection: 'code_expired', nextCode: null } as const
      if (isEqual) return { rejection: null, nextCode: null } as const
      const triesLeft = stored.triesLeft - 1
      return { rejection: 'code_wrong', nextCode: triesLeft > 0 ? { ...stored, triesLeft } : null } as const
    },
  }
}
