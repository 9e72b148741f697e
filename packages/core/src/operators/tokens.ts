/**
 * Issues the tokens of links and sessions, hashes them, and derives CSRF tokens. Source: docs/decisions/operators.md.
 * @module
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Random } from '../ports/world.js'
import type { KeyVersion, MasterKey } from '../secrets/master-key.js'

/** One-time links and sessions of operators, and sessions of integrations at the portal. */
export type TokenKind = 'link' | 'session' | 'portal'

/** A token with its hash. Only the hash is stored. */
export interface IssuedToken {
  readonly token: string
  readonly hash: string
}

/** 32 random bytes under a prefix. */
export function issueToken(kind: TokenKind, random: Pick<Random, 'bytes'>): IssuedToken {
  const token = `pi_${kind}_${Buffer.from(random.bytes(32)).toString('base64url')}`
  return { token, hash: hashToken(token) }
}

/** SHA-256 of a token in hex; a fast hash suffices for 32 random bytes. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}

/** Whether a text can be a token of the kind: anything else costs no look-up. */
export function isToken(kind: TokenKind, text: string): boolean {
  return text.startsWith(`pi_${kind}_`) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(`pi_${kind}_`.length))
}

/** The CSRF token of a session: an HMAC of its token with a key that has no other use. */
export function csrfTokenOf(key: KeyVersion, sessionToken: string): string {
  return createHmac('sha256', key.derive('csrf')).update(sessionToken, 'utf8').digest('base64url')
}

/** Whether a form's CSRF token belongs to the session, under any configured master key. */
export function isCsrfTokenOf(keys: MasterKey, sessionToken: string, given: string): boolean {
  const bytes = Buffer.from(given, 'utf8')
  return keys.all
    .map((key) => Buffer.from(csrfTokenOf(key, sessionToken), 'utf8'))
    .some((expected) => expected.length === bytes.length && timingSafeEqual(expected, bytes))
}
