/** The adapter for Redis clients. Source: docs/interface.md 6, receiver obligations. @module */
import { type BusyOptions, checkBusyOptions, retryEveryMs } from './busy.js'
import { LeaseLostError, StoreBusyError } from './errors.js'
import { pageSize } from './internal/pages.js'
import { createReentryGuard } from './internal/queue.js'
import type { Effect, ListingVersionStore, PaymentKey, VersionDecision } from './version-store.js'
import { checkVersion, normalizeIntegration, toKeyParts } from './version-store.js'

export interface IoRedisClient {
  call(command: string, ...values: string[]): Promise<unknown>
  /** The prefix that the client itself puts before each key. */
  readonly options?: { readonly keyPrefix?: string | undefined }
  /** The nodes of a cluster. */
  nodes?(role: 'master'): IoRedisClient[]
}

/** A client of node-redis, version 4 to 6, that you connected. */
export interface NodeRedisClient {
  sendCommand(words: string[]): Promise<unknown>
}

/** A client that the store knows, by its shape. */
export type RedisClient = IoRedisClient | NodeRedisClient

/** Creates the function that sends a command. @throws {TypeError} When the client is neither of the two kinds. */
function createCommandSender(client: RedisClient): (words: readonly string[]) => Promise<unknown> {
  if ('call' in client && typeof client.call === 'function')
    return ([command = '', ...values]) => client.call(command, ...values)
  if ('sendCommand' in client && typeof client.sendCommand === 'function')
    return (words) => client.sendCommand([...words])
  throw new TypeError('redis is no client of ioredis or node-redis; pass one.')
}

/**
 * The servers that hold keys: the client's own, or each master of its cluster.
 * @throws {Error} When the cluster has no master. @throws What the client throws while it connects.
 */
async function listMasters(client: RedisClient): Promise<readonly RedisClient[]> {
  const { nodes } = client as Partial<IoRedisClient>
  if (nodes === undefined) return [client]
  // A cluster client knows its nodes only after one of them sent the slots. Any command waits for the slots.
  await createCommandSender(client)(['PING'])
  const masters = nodes.call(client, 'master')
  if (masters.length === 0) throw new Error('The cluster of redis lists no master; check its nodes, then try again.')
  return masters
}

// The scripts that run inside of Redis, each atomically. KEYS: the version, the lease.
// Versions compare as numbers, exact up to 2^53 - 1. The stored value is the version, a space and the delivery's token.
// The version is stored as the text that arrived, because Lua writes large numbers in another form.
// A client may resend a command after a lost answer. Each script then finds its own earlier work and answers as before.

/**
 * ARGV: version, token, lease in milliseconds. Answers `duplicate`, `stale`, `apply` or `busy`.
 * The lease expires by itself, so a dead process does not block a payment. A resent command finds its own token and
 * renews the lease, because the effect begins only after the answer.
 */
const leaseScript = `
local stored = tonumber(string.match(redis.call('GET', KEYS[1]) or '0', '^%d+'))
local version = tonumber(ARGV[1])
if version == stored then return 'duplicate' end
if version < stored then return 'stale' end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[2] then return 'busy' end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 'apply'`

/**
 * ARGV: version, token, then the effect's commands, each as the number of its words and the words. Answers `kept`.
 * Answers `lost` when the lease had ended: nothing is written, and another delivery may be at work.
 * A resent command finds its token beside the version. If a greater version was stored in between, the answer is `lost`
 * although the first sending was stored.
 */
const commitScript = `
local mark = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('GET', KEYS[1]) == mark then return 'kept' end
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 'lost' end
local at = 3
while at <= #ARGV do
  local words = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + words))
  at = at + 1 + words
end
redis.call('SET', KEYS[1], mark)
redis.call('DEL', KEYS[2])
return 'kept'`

/** ARGV: token. Releases the lease, if this token still has it. */
export const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'released'`

/** Where versions are kept, and how long a delivery may lease its payment. */
export interface RedisVersionStoreOptions extends BusyOptions {
  /** Your connected client. */
  readonly redis: RedisClient
  /** Prefix of the keys. @default 'payment-version:' */
  readonly prefix?: string | undefined
  /**
   * Longest lease of a delivery on its payment, in milliseconds. An effect that takes longer can run twice.
   * After a crash, the payment waits for the rest of the lease.
   * @default 10000
   */
  readonly leaseMs?: number | undefined
  /** Makes the token of a delivery's lease; never the same token twice. @default crypto.randomUUID */
  readonly newToken?: (() => string) | undefined
}

/** Collects an effect's commands, which Redis runs with the version in one step. */
export interface RedisTransaction {
  /**
   * Adds a command, such as `write('SET', 'order:1', 'paid')`. All commands run after the effect, together with storing
   * the version. Redis rolls nothing back: if a command fails (WRONGTYPE), the writes of earlier ones stay, without the
   * version. On a cluster, the command's keys must be in the payment's slot: see {@link createRedisVersionStore}.
   */
  write(command: string, ...values: string[]): void
}

/**
 * Creates a store on Redis. **Its guarantee is weaker.** Only an effect's commands through `tx` are stored together
 * with the version. The effect's other work happens at least once: after a crash in between, the next delivery repeats
 * it. Make that work idempotent on chainId, txHash, version. Redis can also lose versions, which makes old ones new
 * again: at a restart without `appendonly yes`, when a replica takes over, or when memory is full without `noeviction`.
 *
 * `advance` takes a lease on the payment for `leaseMs` and runs the effect. If the lease still holds, one script runs
 * the commands and stores the version. Deliveries of one payment run in turns; payments do not wait for each other.
 *
 * On a cluster, keys that an effect writes through `tx` must have the hash tag of the store's keys, as
 * `{["0xa1…","8453","0xb2…"]}`. That is the JSON of integrationAddress, chainId and txHash in lower case. `prefix` must
 * then have no braces.
 * @throws {TypeError | RangeError} When an option has no usable form. Its methods throw `ERR_VERSION_STORE_BUSY`,
 * `ERR_LEASE_LOST`, `ERR_EFFECT_REENTRANT`, and the client's own errors unchanged.
 * @example
 * import { createRedisVersionStore } from '@payment-integration/version-store/redis'
 * import { Redis } from 'ioredis'
 * const store = createRedisVersionStore({ redis: new Redis('redis://localhost:6379') })
 */
export function createRedisVersionStore(options: RedisVersionStoreOptions): ListingVersionStore<RedisTransaction> {
  const { redis, prefix = 'payment-version:', leaseMs = 10_000, newToken = () => crypto.randomUUID() } = options
  if (redis === null || typeof redis !== 'object') throw new TypeError('redis is missing; pass your client.')
  const send = createCommandSender(redis)
  const busy = checkBusyOptions(options)
  if (!Number.isSafeInteger(leaseMs) || leaseMs < 1)
    throw new RangeError(`leaseMs is ${leaseMs}; pass whole milliseconds, 1 or more.`)
  const guard = createReentryGuard()

  const run = (script: string, keys: readonly string[], values: readonly string[]) =>
    send(['EVAL', script, String(keys.length), ...keys, ...values]).then(String)

  /** The braces make a cluster keep both keys in one slot. */
  function buildKeys(payment: PaymentKey) {
    const versionKey = `${prefix}{${JSON.stringify(toKeyParts(payment))}}`
    return { version: versionKey, lease: `${versionKey}:lease` }
  }

  /** Repeats the request for the lease until the payment is free, or the version needs no effect. */
  async function acquireLease(keys: ReturnType<typeof buildKeys>, version: string, token: string): Promise<string> {
    const deadline = busy.clock.now() + busy.busyTimeoutMs
    for (;;) {
      const answer = await run(leaseScript, [keys.version, keys.lease], [version, token, String(leaseMs)])
      if (answer !== 'busy') return answer
      if (busy.clock.now() >= deadline) throw new StoreBusyError(busy.busyTimeoutMs, 'effect')
      await busy.clock.sleep(retryEveryMs)
    }
  }

  async function advance(payment: PaymentKey, version: string, effect: Effect<RedisTransaction>) {
    const keys = buildKeys(payment)
    const token = newToken()
    try {
      const answer = await acquireLease(keys, version, token)
      if (answer !== 'apply') return answer as VersionDecision
      const commands: string[] = []
      const tx: RedisTransaction = {
        write: (...words) => void commands.push(String(words.length), ...words.map(String)),
      }
      await guard.start(() => effect(tx))
      const outcome = await run(commitScript, [keys.version, keys.lease], [version, token, ...commands])
      if (outcome !== 'kept') throw new LeaseLostError(leaseMs)
      return 'apply'
    } catch (error) {
      // The lease may exist although its answer was lost. If the release fails too, the lease expires.
      await run(releaseScript, [keys.lease], [token]).catch(() => {})
      throw error
    }
  }

  return {
    async advance(payment, effect) {
      guard.check()
      return advance(payment, String(checkVersion(payment)), effect)
    },
    async current(payment) {
      guard.check()
      const stored = await send(['GET', buildKeys(payment).version])
      if (stored === null) return undefined
      // A space and a token follow the version.
      const [, version] = /^([0-9]{1,16})(?: |$)/.exec(String(stored)) ?? []
      if (version === undefined) throw new TypeError('The key of a version has another value; choose another prefix.')
      return Number(version)
    },
    async *list(integrationAddress) {
      guard.check()
      const address = normalizeIntegration(integrationAddress)
      const { options } = redis as Partial<IoRedisClient>
      const keyStart = `${options?.keyPrefix ?? ''}${prefix}{`
      const match = `${`${keyStart}${JSON.stringify([address]).slice(0, -1)},`.replace(/[\\*?[\]]/g, '\\$&')}*}`
      for (const node of await listMasters(redis)) {
        let cursor = '0'
        do {
          const reply = await createCommandSender(node)(['SCAN', cursor, 'MATCH', match, 'COUNT', `${pageSize}`])
          const [next, keys] = reply as [unknown, string[]]
          for (const key of keys) {
            const [, chainId, txHash] = JSON.parse(key.slice(keyStart.length, -1)) as [string, string, string]
            yield { integrationAddress: address, chainId, txHash }
          }
          cursor = String(next)
        } while (cursor !== '0')
      }
    },
  }
}
