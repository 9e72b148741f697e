/**
 * Undoes one change after another, to find a value before it was damaged, and the changes of a stored secret.
 * @module
 */
import type { Fault } from './finding.js'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

/** The text of UTF-8 bytes, with its byte order mark; null for other bytes. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes)
  } catch {
    return null
  }
}

/** A saved file as UTF-8 without a byte order mark. Editors and shells also save UTF-16, with a mark or without. */
export function decodeSavedFile(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.slice(3)
  const encoding = detectUtf16(bytes)
  return encoding === null ? bytes : toUtf8(new TextDecoder(encoding).decode(bytes))
}

/** The form of UTF-16 by its mark, or by the first character where that is one of ASCII; null: another encoding. */
function detectUtf16([first = 0, second = 0]: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if ((first === 0xff && second === 0xfe) || (first > 0 && first < 0x80 && second === 0)) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || (first === 0 && second > 0 && second < 0x80) ? 'utf-16be' : null
}

/** The bytes of base64 or base64url, with or without padding and line ends. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const plain = text.replace(/\s/g, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(plain)) return null
  try {
    return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

/** The bytes of hex, also after `\x` or `0x`. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | null {
  const digits = text.replace(/^[\\0]x/, '').replace(/\s/g, '')
  if (digits.length < 2 || digits.length % 2 === 1 || !/^[0-9a-fA-F]+$/.test(digits)) return null
  const bytes = new Uint8Array(digits.length / 2)
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16)
  return bytes
}

/** The code points that windows-1252 has in the place of the control characters 0x80 to 0x9f. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** The text as one byte a character, in Latin-1 or windows-1252; null when a character has none. */
export function toLatin1(text: string): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const place = code > 0xff ? windows1252.indexOf(text[index] ?? '') : -1
    if (code > 0xff && place < 0) return null
    bytes[index] = place < 0 ? code : 0x80 + place
  }
  return bytes
}

/** The text of Latin-1 bytes; with `asWindows` those of windows-1252. */
export function fromLatin1(bytes: Uint8Array, asWindows: boolean): string {
  const characters = Array.from(bytes, (byte) =>
    asWindows && byte >= 0x80 && byte < 0xa0 ? (windows1252[byte - 0x80] ?? '') : String.fromCharCode(byte),
  )
  return characters.join('')
}

/** A value, and the changes that were undone to reach it. */
export interface Candidate<T> {
  readonly value: T
  readonly faults: readonly Fault[]
}

/** Undoes one kind of change. Returns nothing when the value shows no trace of it. */
export type Undo<T> = (
  value: T,
) => readonly (Fault & { readonly value: T })[] | Promise<readonly (Fault & { readonly value: T })[]>

interface SearchLimits {
  /** Most changes in a row. */
  readonly depth: number
  /** Most candidates. */
  readonly count: number
}

/**
 * The value itself and every distinct value that undoing changes gives, the fewest changes first.
 * @param idOf - Equal for equal values.
 */
export async function findCandidates<T>(
  value: T,
  undos: readonly Undo<T>[],
  getId: (value: T) => string,
  { depth, count }: SearchLimits,
): Promise<Candidate<T>[]> {
  const found: Candidate<T>[] = [{ value, faults: [] }]
  const knownIds = new Set([getId(value)])
  for (const candidate of found) {
    if (candidate.faults.length >= depth) break
    for (const undo of undos)
      for (const { value: next, ...fault } of await undo(candidate.value)) {
        if (found.length >= count) return found
        const id = getId(next)
        if (knownIds.has(id)) continue
        knownIds.add(id)
        found.push({ value: next, faults: [...candidate.faults, fault] })
      }
  }
  return found
}

/** A key of HMAC: not empty. */
type Key = Uint8Array<ArrayBuffer>

const limits = { depth: 3, count: 24 } as const
const maxSecretLength = 4_096
const blanks = /^[\s\u200b\u2060\ufeff\0]/u
const quotes = ['""', "''", '``', '“”', '‘’', '„“', '«»'] as const
const prefixes = ['pi_whsec_', 'whsec_'] as const

type Undone = Fault & { readonly value: Key }

/** The key that the secret is as issued, then keys after undoing changes. None for an empty or blank secret. */
export async function findKeyCandidates(secret: string): Promise<Candidate<Key>[]> {
  if (trimSecret(secret) === '') return []
  const key = toUtf8(secret)
  if (secret.length > maxSecretLength) return [{ value: key, faults: [] }]
  return findCandidates(key, undos, (value) => Array.from(value).join(), limits)
}

/** The secret without white space around it, invisible characters and written-out line ends included. */
export function trimSecret(secret: string): string {
  let [start, end] = [0, secret.length]
  while (start < end && blanks.test(secret[start] ?? '')) start++
  for (;;) {
    if (end > start && blanks.test(secret[end - 1] ?? '')) end--
    else if (end - start >= 2 && /^\\[nrt]$/.test(secret.slice(end - 2, end))) end -= 2
    else return secret.slice(start, end)
  }
}

/** A step from text to texts; a secret that is not UTF-8 has none. */
function undoInText(undo: (text: string) => readonly (Fault & { readonly text: string })[]): Undo<Key> {
  return (key) => {
    const text = fromUtf8(key)
    if (text === null) return []
    return undo(text).flatMap(({ text: next, ...fault }) => (next === '' ? [] : [{ ...fault, value: toUtf8(next) }]))
  }
}

const undos: readonly Undo<Key>[] = [
  undoInText((text) => {
    const trimmed = trimSecret(text)
    if (trimmed === text) return []
    const count = text.length - trimmed.length
    return [{ code: 'secret_whitespace', evidence: [`Characters around the secret: ${count}.`], text: trimmed }]
  }),
  undoInText((text) => {
    const isQuoted = quotes.some(([open, close]) => text.startsWith(open ?? '') && text.endsWith(close ?? ''))
    if (text.length < 3 || !isQuoted) return []
    return [{ code: 'secret_quoted', evidence: ['Quotes at both ends.'], text: text.slice(1, -1) }]
  }),
  undoInText((text) => {
    const [head] = /^(?:export )?[A-Za-z_]\w{0,127}[=:] ?/.exec(text) ?? []
    if (head === undefined) return []
    return [{ code: 'secret_assignment', evidence: ['A name and an equals sign.'], text: text.slice(head.length) }]
  }),
  undoInText((text) => {
    const parts = text.split(/[,;\s]/).filter((part) => part !== '')
    if (parts.length < 2 || parts.length > 8) return []
    return parts.map((part, index) => ({
      code: 'secret_list',
      evidence: [`Number ${index + 1} of ${parts.length} signed the delivery.`],
      text: part,
    }))
  }),
  undoInText((text) =>
    prefixes
      .filter((prefix) => !text.startsWith(prefix))
      .map((prefix) => ({ code: 'secret_prefix', evidence: [`It lacks ${prefix}.`], text: `${prefix}${text}` })),
  ),
  (key) => {
    const text = fromUtf8(key) ?? ''
    const decoded: readonly (readonly [string, Key | null])[] = [
      ['hex', decodeHex(text)],
      ['base64', decodeBase64(text)],
      ['base64 after its prefix', decodeBase64(text.replace(/^(?:pi_)?whsec_/, ''))],
      ['percent-encoding', decodePercent(text)],
    ]
    return decoded.flatMap(([name, value]): Undone[] =>
      value === null || value.length === 0
        ? []
        : [{ code: 'secret_encoded', evidence: [`Decoded from ${name}.`], value }],
    )
  },
]

function decodePercent(text: string): Key | null {
  if (!/%[0-9a-f]{2}/i.test(text)) return null
  try {
    return toUtf8(decodeURIComponent(text))
  } catch {
    return null
  }
}
