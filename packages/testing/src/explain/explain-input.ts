/** Types and checks of the input of an explanation. @module */
import { signatureToleranceSeconds } from '@payment-integration/contract'
import { toUtf8 } from './undo.js'

/** Headers: fetch `Headers`, a record of Node or Lambda, or a list of pairs. The case of names does not matter. */
export type ExplainHeaders =
  | Iterable<readonly [string, string | readonly string[] | undefined]>
  | Readonly<Record<string, string | readonly string[] | undefined>>

export type HeaderPair = readonly [name: string, value: string]

/** The most headers that are read. */
const maxHeaders = 500

/** The headers as pairs, with repetitions. Anything that is not a pair of texts is omitted. */
export function toHeaderPairs(headers: ExplainHeaders): HeaderPair[] {
  const source: object = Object(headers)
  const entries: Iterable<readonly unknown[]> =
    Symbol.iterator in source ? (source as Iterable<readonly unknown[]>) : Object.entries(source)
  const pairs: HeaderPair[] = []
  for (const [name, value] of entries) {
    if (typeof name !== 'string') continue
    for (const each of Array.isArray(value) ? value : [value]) if (typeof each === 'string') pairs.push([name, each])
    if (pairs.length >= maxHeaders) break
  }
  return pairs.slice(0, maxHeaders)
}

export function getHeaderValues(pairs: readonly HeaderPair[], name: string): string[] {
  const lowercaseName = name.toLowerCase()
  return pairs.flatMap(([each, value]) => (each.toLowerCase() === lowercaseName ? [value] : []))
}

/** The forms of a request. */
export type RequestForm = 'curl' | 'event' | 'http' | 'headers'

export interface ParsedRequest {
  readonly form: RequestForm
  readonly headers: readonly HeaderPair[]
  readonly body: Uint8Array<ArrayBuffer>
  /** Reasons to doubt the bytes, as sentences that do not quote the request. */
  readonly warnings: readonly string[]
}

/** A secret with a name for findings, such as the name of its variable. */
export interface NamedSecret {
  readonly name: string
  readonly value: string
}

/** A secret with or without a name. Without one, findings use the secret's number. */
export type ExplainSecret = string | NamedSecret

/** A delivery as it arrived, the secrets of the receiver, and its clock. */
export interface ExplainInput {
  readonly headers: ExplainHeaders
  /** The body as the receiver has it. Bytes are best; an object is explained as parsed. */
  readonly body: Uint8Array | ArrayBuffer | string | object | null | undefined
  /** The webhook signing secrets, exactly as the receiver passes them to its verifier. */
  readonly secrets: string | readonly ExplainSecret[]
  /** The API secret, to detect that it is used as the signing secret. @default none */
  readonly apiSecret?: ExplainSecret | undefined
  /** Signing secrets that the receiver has removed, to detect an incomplete rotation. @default none */
  readonly previousSecrets?: readonly ExplainSecret[] | undefined
  /** Largest accepted gap between `t` and the clock, in whole seconds. @default 300 */
  readonly toleranceSeconds?: number | undefined
  /** The clock at receipt: milliseconds since the epoch. */
  readonly clock: { now(): number }
}

export interface RoleSecret extends NamedSecret {
  readonly role: 'current' | 'previous' | 'api'
}

export type CheckedInput = ReturnType<typeof checkInput>

/** Checks and copies the input. @throws {TypeError | RangeError} The message holds no secret. */
export function checkInput(input: ExplainInput) {
  const { headers, body, secrets, apiSecret, previousSecrets = [], clock } = Object(input) as ExplainInput
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError('headers is missing; pass those of the request.')
  if (typeof clock?.now !== 'function') throw new TypeError('clock has no now(); pass an object with now().')
  const nowMs = clock.now()
  if (!Number.isFinite(nowMs))
    throw new RangeError(`clock.now() gives ${nowMs}; pass a clock in milliseconds, such as Date.`)
  const tolerance = input.toleranceSeconds ?? signatureToleranceSeconds
  if (!Number.isSafeInteger(tolerance) || tolerance < 0)
    throw new RangeError(`toleranceSeconds is ${tolerance}; pass a whole number of seconds, 0 or more.`)
  const current = typeof secrets === 'string' ? [secrets] : secrets
  if (!Array.isArray(current) || current.length === 0)
    throw new TypeError('secrets is missing or empty; pass the webhook signing secrets, as the receiver has them.')
  const bytes = toBytes(body)
  return {
    pairs: toHeaderPairs(headers),
    body: bytes ?? toUtf8(toJson(body)),
    isParsed: bytes === null,
    secrets: [
      ...current.map(createSecretReader('secret', 'current')),
      ...previousSecrets.map(createSecretReader('previous secret', 'previous')),
      ...(apiSecret === undefined ? [] : [{ ...createSecretReader('', 'api')(apiSecret, 0), name: 'the API secret' }]),
    ],
    toleranceSeconds: tolerance,
    nowMs,
  }
}

function createSecretReader(kind: string, role: RoleSecret['role']) {
  return (secret: ExplainSecret, index: number): RoleSecret => {
    const { name, value } =
      typeof secret === 'string' ? { name: `${kind} ${index + 1}`, value: secret } : Object(secret)
    if (typeof value !== 'string' || typeof name !== 'string')
      throw new TypeError('A secret is neither a text nor { name, value }; pass one of these.')
    return { name, value, role }
  }
}

/** The bytes of the body; null for an object that is neither bytes nor text. */
function toBytes(body: ExplainInput['body']): Uint8Array<ArrayBuffer> | null {
  if (typeof body === 'string' || body === null || body === undefined) return toUtf8(body ?? '')
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  // Test runners pass buffers of other realms, which `instanceof` does not recognize.
  const isBuffer = Object.prototype.toString.call(body) === '[object ArrayBuffer]'
  return isBuffer ? new Uint8Array(body as ArrayBuffer).slice() : null
}

function toJson(body: ExplainInput['body']): string {
  try {
    return JSON.stringify(body) ?? ''
  } catch {
    return String(body)
  }
}
