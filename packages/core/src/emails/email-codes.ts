/** One-time codes that prove an e-mail address. Source: docs/interface.md 4.2. @module */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isOver } from '../internal/is-over.js'
import type { ProofRefusal, StoredEmailCode } from '../ports/identity-accounts.js'
import type { Random } from '../ports/world.js'

/** Lifetime of a code, in milliseconds. */
export const codeLifetimeMs = 10 * 60_000
/** Tries of a code. */
export const codeTries = 5
/** Digits of a code in base 32: 60 bits, too many to guess. */
const codeLength = 12
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The verdict on a typed code. */
export type CodeVerdict =
  | { readonly kind: 'accepted' }
  /** `left`: the code to store from now on; null: none. */
  | {
      readonly kind: 'refused'
      readonly reason: Extract<ProofRefusal, 'no_code' | 'code_expired' | 'code_wrong'>
      readonly left: StoredEmailCode | null
    }

/** Makes one-time codes and judges them. Only a keyed hash of a code is stored, bound to its address. */
export interface EmailCodes {
  /** A new random code of an address, for the caller to send there, and its stored form. */
  issue(emailKey: string, now: number): { readonly code: string; readonly stored: StoredEmailCode }
  /** Judges a typed code. Case, spaces and hyphens do not matter; the comparison takes constant time. */
  judge(emailKey: string, typed: string, stored: StoredEmailCode | null, now: number): CodeVerdict
}

/** Builds it on a key. */
export function createEmailCodes(key: Uint8Array, random: Pick<Random, 'bytes'>): EmailCodes {
  const hashOf = (emailKey: string, code: string) =>
    createHmac('sha256', key).update(`${emailKey}|${code}`, 'utf8').digest('hex')
  return {
    issue(emailKey, now) {
      const code = Array.from(random.bytes(codeLength), (byte) => alphabet[byte & 31]).join('')
      const stored = { hash: hashOf(emailKey, code), expiresAt: now + codeLifetimeMs, triesLeft: codeTries }
      return { code, stored }
    },
    judge(emailKey, typed, stored, now) {
      // Hashed also without a stored code, so that the time does not reveal whether there is one.
      const given = Buffer.from(hashOf(emailKey, typed.replace(/[\s-]/g, '').toUpperCase()), 'hex')
      if (stored === null) return { kind: 'refused', reason: 'no_code', left: null }
      const good = Buffer.from(stored.hash, 'hex')
      const isEqual = given.length === good.length && timingSafeEqual(given, good)
      if (isOver(stored.expiresAt, now, codeLifetimeMs)) return { kind: 'refused', reason: 'code_expired', left: null }
      if (isEqual) return { kind: 'accepted' }
      const triesLeft = stored.triesLeft - 1
      return { kind: 'refused', reason: 'code_wrong', left: triesLeft > 0 ? { ...stored, triesLeft } : null }
    },
  }
}
