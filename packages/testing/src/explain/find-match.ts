/** Searches for the key and body that give the header's signature. @module */
import { buildSignedBytes, createHmac } from '../deliveries.js'
import type { RoleSecret } from './explain-input.js'
import type { Fault } from './finding.js'
import type { SignatureCandidate } from './signature-header.js'
import type { Body, Candidate, Undone } from './undo.js'
import {
  addNewlines,
  decompress,
  detectCompression,
  findCandidates,
  findKeyCandidates,
  fromLatin1,
  fromUtf8,
  maxBodyBytes,
  undoBytes,
  undoText,
} from './undo.js'
import { undoJson } from './undo-json.js'

/** Limit of hashed bytes of one search. A delivery has about a kilobyte, so only junk reaches the limit. */
const maxHashedBytes = 48 * 1_048_576
/** Limits of all candidates for one body: their bytes, and their number. */
const maxCopiedBytes = 16 * 1_048_576
const maxBodies = 400

/** The key, the body and the time that give the signature. */
export interface Match {
  readonly secret: RoleSecret
  readonly keyFaults: readonly Fault[]
  readonly bodyFaults: readonly Fault[]
  readonly body: Body
  /** Index in the signature candidates: 0 is the header's own `t`. */
  readonly candidateIndex: number
}

interface Key {
  readonly secret: RoleSecret
  readonly faults: readonly Fault[]
  readonly sign: ReturnType<typeof createHmac>
}

/** Finds the match with the fewest faults, or null. */
export async function findMatch(candidates: readonly SignatureCandidate[], body: Body, secrets: readonly RoleSecret[]) {
  if (candidates.length === 0 || body.length > maxBodyBytes) return null
  let hashedBytes = 0

  async function search(bodies: readonly Candidate[], keysToTry: readonly Key[]): Promise<Match | null> {
    for (const { value, faults } of bodies)
      for (const { secret, faults: keyFaults, sign } of keysToTry)
        for (const [candidateIndex, { t, codes }] of candidates.entries()) {
          hashedBytes += value.length + 64
          if (hashedBytes > maxHashedBytes) return null
          if (codes.includes(await sign(buildSignedBytes(t, value))))
            return { secret, keyFaults, bodyFaults: faults, body: value, candidateIndex }
        }
    return null
  }

  // Tries the unchanged body with every key, then changed bodies with issued keys, then both changed.
  const keys = await buildKeys(secrets)
  const issuedKeys = keys.filter(({ faults }) => faults.length === 0)
  const repairedKeys = keys.filter(({ faults }) => faults.length > 0)
  const unchanged = await search([{ value: body, faults: [] }], [...issuedKeys, ...repairedKeys])
  if (unchanged !== null) return unchanged
  const maxCount = Math.max(12, Math.min(maxBodies, Math.floor(maxCopiedBytes / (body.length + 1))))
  const [, ...undone] = await findCandidates(body, undoBody, maxCount)
  // A missing line end leaves no trace in the body, so these candidates come last.
  const changed = [...undone, ...addNewlines(body)]
  return (await search(changed, issuedKeys)) ?? (await search(changed, repairedKeys))
}

/** Undoes every known change of a body. */
async function* undoBody(body: Body): AsyncGenerator<Undone> {
  yield* undoBytes(body)
  const format = detectCompression(body)
  if (format !== null) yield ['body_compressed', await decompress(body, format), `Its bytes are ${format}.`]
  const text = fromUtf8(body)
  if (text === null)
    for (const asWindows of [false, true])
      yield ['body_charset', fromLatin1(body, asWindows), 'The bytes are not UTF-8.']
  else {
    yield* undoJson(text)
    yield* undoText(text)
  }
}

/** The keys of the secrets as they are, and those that result from undoing changes. */
async function buildKeys(secrets: readonly RoleSecret[]): Promise<Key[]> {
  const keys: Key[] = []
  for (const secret of secrets)
    for (const { value, faults } of await findKeyCandidates(secret.value))
      keys.push({ secret, faults, sign: createHmac(value) })
  return keys
}
