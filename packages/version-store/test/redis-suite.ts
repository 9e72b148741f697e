/** A Redis server for a file of tests, and the suite of version stores on a client. @module */
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { ConformanceExcuse } from '../src/conformance.js'
import { versionStoreConformance } from '../src/exports/conformance.js'
import { createRedisVersionStore, type RedisClient, type RedisTransaction } from '../src/exports/redis.js'
import { releaseScript } from '../src/redis-version-store.js'
import { redisMissing, startRedis, type TestRedis } from './redis-server.js'

let prefixes = 0
/** The beginning of keys that no test had before. */
export const newPrefix = () => `test-${++prefixes}:`

/** Registers tests on a server of their own. */
export function describeRedis(register: (redis: () => Redis, path: () => string) => void): void {
  describe.skipIf(redisMissing !== null)(`Redis${redisMissing === null ? '' : ` (${redisMissing})`}`, () => {
    let server: TestRedis
    let redis: Redis
    beforeAll(async () => {
      server = await startRedis()
      redis = new Redis(server.path)
    })
    afterAll(async () => {
      redis?.disconnect()
      await server?.remove()
    })
    register(
      () => redis,
      () => server.path,
    )
  })
}

/** Registers the suite. @param reader - Reads the notes that the store's client wrote. */
export function redisConformance(
  name: string,
  client: () => RedisClient,
  reader: () => Redis,
  excuse: readonly ConformanceExcuse[] = [],
): void {
  versionStoreConformance<RedisTransaction>(
    name,
    async ({ operation }) => {
      const prefix = newPrefix()
      const notes = `${prefix}notes`
      const redis = client()
      /** Sends a command through the faults. A lease whose release fails ends at once, so that nobody waits for it. */
      const through = async <T>(words: readonly string[], send: () => Promise<T>): Promise<T> => {
        try {
          return await operation(send)
        } catch (error) {
          if (words[1] === releaseScript) await send()
          throw error
        }
      }
      const store = createRedisVersionStore({
        redis:
          'call' in redis
            ? { call: (command, ...values) => through([command, ...values], () => redis.call(command, ...values)) }
            : { sendCommand: (words) => through(words, () => redis.sendCommand(words)) },
        prefix,
        leaseMs: 600_000,
        busyTimeoutMs: 600_000,
      })
      return {
        store,
        write: (tx, note) => tx.write('RPUSH', notes, note),
        notes: () => reader().lrange(notes, 0, -1),
        listsAgain: true,
      }
    },
    // Without a way to skip, excused tests are left out: here a skipped test counts as a failed one.
    { test: (title, run, timeoutMs) => test(title, run, timeoutMs), excuse },
  )
}
