/**
 * Caches accepted headers, so that a busy caller does not cost a keyed hash and a look-up per request.
 * @module
 */
import { hash } from 'node:crypto'
import type { Clock, Random } from '../ports/world.js'

/**
 * How long a cached result is used, in milliseconds. A secret that another process revokes is valid here for that long
 * at most. A change by this process applies at once.
 */
export const recentMs = 250

/** Most cached headers; a service has far fewer callers at one time. */
const mostEntries = 1_000

/** Cached results of headers, each for {@link recentMs}. */
export interface Recent<Found> {
  find(header: string): Found | undefined
  /**
   * Call before reading the store. The returned function caches the result, unless {@link forget} was called meanwhile:
   * then the result may be from before a change. Cache accepted headers alone: a rejection must always cost the same.
   */
  reading(): (header: string, found: Found) => void
  /** Clears the cache after a change by this process. */
  forget(): void
}

/** An empty cache. It contains no header and no secret, only hashes salted for this process. */
export function createRecent<Found>(deps: {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}): Recent<Found> {
  const { clock, random } = deps
  const salt = Buffer.from(random.bytes(32)).toString('base64')
  const entries = new Map<string, { readonly found: Found; readonly since: number }>()
  let changes = 0
  let latest = Number.NEGATIVE_INFINITY
  const nameOf = (header: string) => hash('sha256', `${salt}${header}`, 'base64')
  function forget(): void {
    changes += 1
    entries.clear()
  }
  return {
    find(header) {
      const now = clock.now()
      // After the clock was set back, every entry looks younger than it is.
      if (now < latest) forget()
      latest = now
      const entry = entries.get(nameOf(header))
      return entry !== undefined && now - entry.since < recentMs ? entry.found : undefined
    },
    reading() {
      const before = changes
      const since = clock.now()
      return (header, found) => {
        if (before !== changes) return
        if (entries.size >= mostEntries) entries.clear()
        entries.set(nameOf(header), { found, since })
      }
    },
    forget,
  }
}
