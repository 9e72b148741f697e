/**
 * Undoes one change after another, to find a value before it was damaged, and the changes of a stored secret.
 * @module
 */
import type { Fault } from './finding.js'
import { decodeBase64, decodeHex, fromUtf8, toUtf8 } from './text-codes.js'

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
export async function candidatesOf<T>(
  value: T,
  undos: readonly Undo<T>[],
  idOf: (value: T) => string,
  { depth, count }: SearchLimits,
): Promise<Candidate<T>[]> {
  const found: Candidate<T>[] = [{ value, faults: [] }]
  const known = new Set([idOf(value)])
  for (const candidate of found) {
    if (candidate.faults.length >= depth) break
    for (const undo of undos)
      for (const { value: next, ...fault } of await undo(candidate.value)) {
        if (found.length >= count) return found
        const id = idOf(next)
        if (known.has(id)) continue
        known.add(id)
        found.push({ value: next, faults: [...candidate.faults, fault] })
      }
  }
  return found
}

/** A key of HMAC: not empty. */
type Key = Uint8Array<ArrayBuffer>

const limits = { depth: 3, count: 24 } as const
const longestSecret = 4_096
const blanks = /^[\s\u200b\u2060\ufeff\0]/u
const quotes = ['""', "''", '``', '“”', '‘’', '„“', '«»'] as const
const prefixes = ['pi_whsec_', 'whsec_'] as const

type Undone = Fault & { readonly value: Key }

/** The key that the secret is as issued, then keys after undoing changes. None for an empty or blank secret. */
export async function keyCandidates(secret: string): Promise<Candidate<Key>[]> {
  if (trimSecret(secret) === '') return []
  const key = toUtf8(secret)
  if (secret.length > longestSecret) return [{ value: key, faults: [] }]
  return candidatesOf(key, undos, (value) => Array.from(value).join(), limits)
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
function ofText(undo: (text: string) => readonly (Fault & { readonly text: string })[]): Undo<Key> {
  return (key) => {
    const text = fromUtf8(key)
    if (text === null) return []
    return undo(text).flatMap(({ text: next, ...fault }) => (next === '' ? [] : [{ ...fault, value: toUtf8(next) }]))
  }
}

const undos: readonly Undo<Key>[] = [
  ofText((text) => {
    const trimmed = trimSecret(text)
    if (trimmed === text) return []
    const count = text.length - trimmed.length
    return [{ code: 'secret_whitespace', evidence: [`Characters around the secret: ${count}.`], text: trimmed }]
  }),
  ofText((text) => {
    const isQuoted = quotes.some(([open, close]) => text.startsWith(open ?? '') && text.endsWith(close ?? ''))
    if (text.length < 3 || !isQuoted) return []
    return [{ code: 'secret_quoted', evidence: ['Quotes at both ends.'], text: text.slice(1, -1) }]
  }),
  ofText((text) => {
    const [head] = /^(?:export )?[A-Za-z_]\w{0,127}[=:] ?/.exec(text) ?? []
    if (head === undefined) return []
    return [{ code: 'secret_assignment', evidence: ['A name and an equals sign.'], text: text.slice(head.length) }]
  }),
  ofText((text) => {
    const parts = text.split(/[,;\s]/).filter((part) => part !== '')
    if (parts.length < 2 || parts.length > 8) return []
    return parts.map((part, index) => ({
      code: 'secret_list',
      evidence: [`Number ${index + 1} of ${parts.length} signed the delivery.`],
      text: part,
    }))
  }),
  ofText((text) =>
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
