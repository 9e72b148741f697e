import type { LeaseStore } from '../../src/ports/store-chains.js'
import { checkInteger } from './memory-checks.js'

/** Leases in memory with the guarantees of the port. @param now - Unix milliseconds. */
export function memoryLeases(now: () => number): LeaseStore {
  const held = new Map<string, { readonly holder: string; readonly until: number }>()
  return {
    async acquire({ name, holder, ttlMs }) {
      checkInteger(ttlMs, 'ttlMs', 1)
      const current = held.get(name)
      const isOthers = current !== undefined && current.holder !== holder
      if (isOthers && current.until > now() && current.until <= now() + Math.max(ttlMs, 600_000)) return false
      held.set(name, { holder, until: now() + ttlMs })
      return true
    },
    async list() {
      return [...held]
        .map(([name, { holder, until }]) => ({ name, holder, endsInMs: until - now() }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async release({ name, holder }) {
      if (held.get(name)?.holder === holder) held.delete(name)
    },
  }
}
