/** Searches for the key and body that give the header's signature. @module */
import { createHmac, signedBytes } from '../deliveries.js'
import type { RoleSecret } from './explain-input.js'
import type { Fault } from './finding.js'
import type { SignatureCandidate } from './signature-header.js'
import {
  addNewlines,
  type Body,
  type Candidate,
  createByteUndos,
  findCandidates,
  findKeyCandidates,
  toUtf8,
  trimSecret,
  undoText,
} from './undo.js'
import { undoJson } from './undo-json.js'

/** Computes the signature of `t` and a body with one key. */
type Signer = (t: string, body: Uint8Array) => Promise<string>

/** @param key - Not empty. */
function createSigner(key: Uint8Array<ArrayBuffer>): Signer {
  const hmac = createHmac(key)
  return (t, body) => hmac(signedBytes(t, body))
}

/** Limit of a body in bytes; a larger one is not searched. */
const maxBodyBytes = 1_048_576
/** Limit of hashed bytes of one search. A delivery has about a kilobyte, so only junk reaches the limit. */
const maxHashedBytes = 48 * 1_048_576
/** Limits of all candidates for one body: their bytes, and their number. */
const maxCopiedBytes = 16 * 1_048_576
const maxBodies = 400
const maxSteps = 3

/** The key, the body and the time that give the signature. */
export interface Match {
  readonly secret: RoleSecret
  readonly keyFaults: readonly Fault[]
  readonly bodyFaults: readonly Fault[]
  readonly body: Body
  /** Index in the candidates: 0 is the header's own `t`. */
  readonly candidate: number
}

interface Key {
  readonly secret: RoleSecret
  readonly faults: readonly Fault[]
  readonly sign: Signer
}

/**
 * Finds the match with the fewest faults. Tries the unchanged body with every key, then changed bodies with unchanged
 * secrets, then both changed. Null when none gives the signature.
 */
export async function findMatch(
  candidates: readonly SignatureCandidate[],
  body: Body,
  secrets: readonly RoleSecret[],
): Promise<Match | null> {
  if (candidates.length === 0 || body.length > maxBodyBytes) return null
  let hashed = 0

  async function search(some: readonly Candidate<Body>[], under: readonly Key[]): Promise<Match | null> {
    for (const { value, faults } of some)
      for (const { secret, faults: keyFaults, sign } of under)
        for (const [candidate, { t, codes }] of candidates.entries()) {
          hashed += value.length + 64
          if (hashed > maxHashedBytes) return null
          if (codes.includes(await sign(t, value)))
            return { secret, keyFaults, bodyFaults: faults, body: value, candidate }
        }
    return null
  }

  const unchangedBodies: Candidate<Body>[] = [{ value: body, faults: [] }]
  const issuedKeys = secrets.flatMap((secret): Key[] =>
    trimSecret(secret.value) === '' ? [] : [{ secret, faults: [], sign: createSigner(toUtf8(secret.value)) }],
  )
  const exact = await search(unchangedBodies, issuedKeys)
  if (exact !== null) return exact
  const storedKeys = await buildStoredKeys(secrets)
  const repaired = await search(unchangedBodies, storedKeys)
  if (repaired !== null) return repaired
  const changed = await buildChangedBodies(body)
  return (await search(changed, issuedKeys)) ?? (await search(changed, storedKeys))
}

/** The keys that result from undoing changes of the secrets. */
async function buildStoredKeys(secrets: readonly RoleSecret[]): Promise<Key[]> {
  const keys: Key[] = []
  for (const secret of secrets)
    for (const { value, faults } of await findKeyCandidates(secret.value))
      if (faults.length > 0) keys.push({ secret, faults, sign: createSigner(value) })
  return keys
}

/** The bodies that the given body may have come from, the fewest changes first. */
async function buildChangedBodies(body: Body): Promise<Candidate<Body>[]> {
  const count = Math.max(12, Math.min(maxBodies, Math.floor(maxCopiedBytes / (body.length + 1))))
  const undos = [...createByteUndos(maxBodyBytes), undoJson, ...undoText]
  const [, ...changed] = await findCandidates(body, undos, fingerprint, { depth: maxSteps, count })
  return [...changed, ...addNewlines(body)]
}

/** A fingerprint of a body: two 32-bit hashes and the length, which almost never collide. */
function fingerprint(body: Body): string {
  let [a, b] = [0x811c9dc5, 5381]
  for (const byte of body) {
    a = Math.imul(a ^ byte, 0x01000193)
    b = (Math.imul(b, 33) + byte) | 0
  }
  return `${body.length}:${a}:${b}`
}
