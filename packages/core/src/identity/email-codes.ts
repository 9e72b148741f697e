/** One-time codes that prove an e-mail address. Source: INTERFACE 4.2 (claimed when the user proves the email). @module */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long a code is good, in milliseconds. */
export const codeLifetimeMs = 10 * 60_000

/** Digits of a code in base 32: 60 bits, too many to try. */
const codeLength = 12
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * A code is a keyed hash of the address and of the time it ends, so nothing is stored. Used again within its time it proves the same again, which
 * changes nothing: an address has one owner.
 */
export interface EmailCodes {
  /** The code of an address, to be sent there by whoever asks for it, and nowhere else. */
  issue(emailKey: string, now: number): { readonly code: string; readonly expiresAt: number }
  /** Whether somebody who knows the code was sent it. Case, spaces and hyphens do not matter. */
  accepts(emailKey: string, code: string, now: number): boolean
}

/** Builds it on a key. */
export function createEmailCodes(key: Uint8Array): EmailCodes {
  const codeOf = (emailKey: string, turn: number) => {
    const bytes = createHmac('sha256', key).update(`${emailKey}|${turn}`, 'utf8').digest()
    return Array.from(bytes.subarray(0, codeLength), (byte) => alphabet[byte & 31]).join('')
  }
  const turnOf = (now: number) => Math.floor(now / codeLifetimeMs)
  return {
    issue(emailKey, now) {
      const turn = turnOf(now)
      // The code of a turn is taken in the next one too, so that it is good for its lifetime at least.
      return { code: codeOf(emailKey, turn), expiresAt: (turn + 2) * codeLifetimeMs }
    },
    accepts(emailKey, code, now) {
      const given = Buffer.from(code.replace(/[\s-]/g, '').toUpperCase(), 'utf8')
      const turn = turnOf(now)
      const matches = [turn, turn - 1].map((each) => {
        const good = Buffer.from(codeOf(emailKey, each), 'utf8')
        return given.length === good.length && timingSafeEqual(given, good)
      })
      return matches.includes(true)
    },
  }
}
