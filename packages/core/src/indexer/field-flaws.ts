/** Names flaws of single values. A flaw is a sentence about a place, or null. @module */

/** A flaw of a value; null: there is none. */
export type Flaw = string | null

/** Longest part of a value that a flaw repeats, in characters. */
const shownLength = 80

const shapes = {
  hash: [/^0x[0-9a-f]{64}$/, '0x and 64 lowercase hex digits'],
  address: [/^0x[0-9a-f]{40}$/, '0x and 40 lowercase hex digits'],
  digits: [/^[0-9]{1,78}$/, 'decimal digits'],
} as const

/** A text of a fixed shape. */
export function shapeFlaw(place: string, value: unknown, shape: keyof typeof shapes): Flaw {
  const [pattern, expected] = shapes[shape]
  return typeof value === 'string' && pattern.test(value) ? null : flawOf(place, value, expected)
}

/** A whole number from `least` on. */
export function wholeFlaw(place: string, value: unknown, least = 0, most = Number.MAX_SAFE_INTEGER): Flaw {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
  return isWhole ? null : flawOf(place, value, `a whole number from ${least}${most < 256 ? ` to ${most}` : ''}`)
}

/** An amount in base units. */
export function amountFlaw(place: string, value: unknown): Flaw {
  const isAmount = typeof value === 'bigint' && value >= 0n && value < 1n << 256n
  return isAmount ? null : flawOf(place, value, 'a bigint from 0 below 2^256')
}

/** A text that is not empty. */
export function textFlaw(place: string, value: unknown): Flaw {
  return typeof value === 'string' && value !== '' ? null : flawOf(place, value, 'a text that is not empty')
}

/** An object. */
export function objectFlaw(place: string, value: unknown): Flaw {
  return typeof value === 'object' && value !== null ? null : flawOf(place, value, 'an object')
}

/** A list of objects. */
export function listFlaw<T>(place: string, list: readonly T[], check: (place: string, each: T) => Flaw): Flaw {
  if (!Array.isArray(list)) return flawOf(place, list, 'a list')
  for (const [index, each] of list.entries()) {
    const at = `${place}[${index}]`
    const flaw = objectFlaw(at, each) ?? check(at, each)
    if (flaw !== null) return flaw
  }
  return null
}

/** A text, or null. */
export function textOrNullFlaw(place: string, value: unknown): Flaw {
  return value === null || typeof value === 'string' ? null : flawOf(place, value, 'a text or null')
}

/** The flaw of a value at a place. */
export function flawOf(place: string, value: unknown, expected: string): string {
  return `${place} is ${shown(value)}; expected ${expected}`
}

/** The first flaw. Each check runs only while the ones before it found none. */
export function firstFlaw(...checks: (() => Flaw)[]): Flaw {
  for (const check of checks) {
    const flaw = check()
    if (flaw !== null) return flaw
  }
  return null
}

function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`.slice(0, shownLength)
  if (typeof value === 'string') {
    const cut = value.length > shownLength ? `${value.slice(0, shownLength)}…` : value
    return JSON.stringify(cut)
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
