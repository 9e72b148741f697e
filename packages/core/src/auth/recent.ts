/**
 * Headers that opened a moment ago, so that a busy caller does not cost a keyed hash and a look-up per request.
 * @module
 */
import { hash } from 'node:crypto'
import type { Clock, Random } from '../ports/world.js'

/**
 * How long what was found may be used again, in milliseconds: so late, at most, does a secret end that another process
 * ended. What this process changes counts at once.
 */
export const recentMs = 250

/** Most headers kept; a service has far fewer callers at one time. */
const mostEntries = 1_000

/** What was found for headers, each for {@link recentMs}. */
export interface Recent<Found> {
  find(header: string): Found | undefined
  /**
   * Call before reading the store; the function that it returns keeps what was found, unless {@link forget} was called
   * in between: then it may be what was there before a change. Keep only what opens: a refusal must always cost the
   * same.
   */
  reading(): (header: string, found: Found) => void
  /** Drops everything: something was changed by this process. */
  forget(): void
}

/** An empty memory. It holds no header and no secret: only their hashes, salted for this process. */
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
      // A clock that was set back makes every entry look younger than it is.
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
