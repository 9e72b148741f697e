/** Hashes passphrases with scrypt and compares them. Source: docs/decisions/operators.md. @module */
import { scrypt, timingSafeEqual } from 'node:crypto'
import type { RandomSource } from '../ports/runtime.js'
import { PassphraseError } from './operator-store.js'

export interface ScryptCost {
  /** Base 2 logarithm of N. */
  readonly log2N: number
  readonly r: number
  readonly p: number
}

/** The cost that OWASP recommends: N = 2^17, r = 8, p = 1. One hash takes 128 MiB. */
export const owaspCost: ScryptCost = { log2N: 17, r: 8, p: 1 }

/** Limits for the characters of a passphrase. */
export const passphraseLength = { min: 12, max: 256 } as const

type Random = Pick<RandomSource, 'bytes'>

const saltBytes = 16
const hashBytes = 32
const pattern = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/

/** @throws PassphraseError `ERR_PASSPHRASE_LENGTH`. */
export function checkPassphrase(passphrase: string): void {
  const { min, max } = passphraseLength
  const text = normalize(passphrase)
  const length = text === null ? Number.POSITIVE_INFINITY : [...text].length
  if (length > max) throw new PassphraseError(`A passphrase has at most ${max} characters.`)
  if (length < min) throw new PassphraseError(`A passphrase has at least ${min} characters.`)
}

/** Hashes a passphrase with a new salt: `$scrypt$ln=17,r=8,p=1$<salt>$<hash>`, both base64url. */
export async function hashPassphrase(passphrase: string, cost: ScryptCost, random: Random): Promise<string> {
  const salt = Buffer.from(random.bytes(saltBytes))
  return format(cost, salt, await derive(passphrase, salt, cost))
}

/** A hash that no passphrase has: comparing with it takes as long as with a real one. */
export function createDummyHash(cost: ScryptCost, random: Random): string {
  return format(cost, Buffer.from(random.bytes(saltBytes)), Buffer.from(random.bytes(hashBytes)))
}

/** `isOutdated`: the hash was made with other parameters than `cost`. @throws {TypeError} For a malformed hash. */
export async function verifyPassphrase(passphrase: string, stored: string, cost: ScryptCost) {
  const { storedCost, salt, hash } = parse(stored)
  const matches = timingSafeEqual(await derive(passphrase, salt, storedCost), hash)
  const isOutdated = storedCost.log2N !== cost.log2N || storedCost.r !== cost.r || storedCost.p !== cost.p
  return { matches: matches && normalize(passphrase) !== null, isOutdated }
}

/** Normalizes a passphrase, so that equal characters have equal bytes on every keyboard; null: it is too long. */
function normalize(passphrase: string): string | null {
  // A character has at most two code units, and decomposed letters a few more.
  return passphrase.length > passphraseLength.max * 4 ? null : passphrase.normalize('NFKC')
}

function derive(passphrase: string, salt: Buffer, { log2N, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** log2N
  const options = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) => {
    scrypt(normalize(passphrase) ?? '', salt, hashBytes, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })
}

function format({ log2N, r, p }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return `$scrypt$ln=${log2N},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

function parse(stored: string) {
  const [, log2N, r, p, salt, hash] = pattern.exec(stored) ?? []
  if (salt === undefined || hash === undefined)
    throw new TypeError('The stored passphrase hash cannot be parsed; reset the operator.')
  return {
    storedCost: { log2N: Number(log2N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
}
