/** Checks addresses, options and times, formats errors, groups items, limits concurrent calls; loop types. @module */
import { CoreError } from '../errors.js'

/** The address lowercased when `text` is 0x and 40 hex digits in any case, else null. */
export function lowercaseAddress(text: string): string | null {
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : null
}

/** @throws RangeError When `value` is not a whole number of at least `min`. */
export function assertWhole(name: string, value: number, min: number): void {
  if (!Number.isSafeInteger(value) || value < min)
    throw new RangeError(`${name} is ${value}; pass a whole number, ${min} or more.`)
}

/** The wait after the first failure in a row, in milliseconds, before jitter. */
const backoffBaseMs = 250
/** The longest wait between two rounds, in milliseconds. */
export const maxBackoffMs = 30_000

/**
 * The wait in milliseconds after so many failures in a row, 1 or more. It doubles up to the cap. `fraction`, random
 * from 0 to 1, decides half of it, so that loops that failed together do not retry together.
 */
export function computeBackoffMs(failures: number, fraction: number): number {
  const ceiling = Math.min(maxBackoffMs, backoffBaseMs * 2 ** (failures - 1))
  return Math.round(ceiling * (0.5 + fraction / 2))
}

/** Describes an error for the log. Of a library's error only class and code: its message may contain credentials. */
export function describeError(error: unknown): string {
  if (error instanceof CoreError) return `${error.code}: ${error.message}`
  if (!(error instanceof Error)) return `a ${typeof error} was thrown`
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[A-Za-z0-9_]{1,40}$/.test(code) ? `${error.name} ${code}` : error.name
}

/** The first duplicate key of one object in valid JSON, or null. Keys are compared as decoded. */
export function findDuplicateKey(json: string): string | null {
  const openScopes: (Set<string> | null)[] = []
  // In valid JSON every string has a closing quote. It is optional in the pattern, so that matching takes linear time.
  const token = /"(?:[^"\\]|\\.)*"?|[{}[\]:,]/g
  let previous = ''
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const text = match[0]
    if (text === '{') openScopes.push(new Set())
    else if (text === '[') openScopes.push(null)
    else if (text === '}' || text === ']') openScopes.pop()
    else if (text.startsWith('"') && (previous === '{' || previous === ',')) {
      const keys = openScopes.at(-1)
      const key = JSON.parse(text) as string
      if (keys?.has(key)) return key
      keys?.add(key)
    }
    previous = text
  }
  return null
}

/** The largest difference between the clocks of two processes, in milliseconds. */
export const processSkewMs = 5 * 60_000

/** Whether a time has passed. An end further ahead than the longest duration counts as passed: a clock was ahead. */
export function isExpired(endsAt: number, now: number, longestMs: number): boolean {
  return now >= endsAt || endsAt > now + longestMs + processSkewMs
}

/** Groups items by key; each group keeps their order. */
export function groupBy<T>(items: readonly T[], toKey: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = toKey(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** Calls `work` for items in order, up to `concurrency` at once, while `mayContinue`. Resolves the number of calls. */
export async function runConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  mayContinue: () => boolean,
  work: (item: T) => Promise<void>,
): Promise<number> {
  let next = 0
  async function runWorker(): Promise<void> {
    for (let item = items[next]; item !== undefined && mayContinue(); item = items[next]) {
      next += 1
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, runWorker))
  return next
}

/** A loop that runs until its signal aborts. It logs errors and goes on. */
export interface Loop {
  run(signal: AbortSignal): Promise<void>
}

/** A loop of rounds over stored rows. */
export interface Poller extends Loop {
  /** One round. Resolves the number of payments that it recorded or changed. */
  runOnce(signal?: AbortSignal): Promise<number>
}

export interface PollerOptions {
  /** Milliseconds from a round's start to the next, for fulfillments from its end. @default 15000, fulfillments 5000 */
  readonly everyMs?: number | undefined
  /** Rows read from the store at a time; for receipts, of each chain. @default 100 */
  readonly batch?: number | undefined
  /** Rows polled at once; for receipts, of each chain. @default 8 */
  readonly concurrency?: number | undefined
}
