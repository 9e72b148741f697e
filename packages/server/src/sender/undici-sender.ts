/** Posts notifications with undici. Source: docs/interface.md 6 (delivery). @module */
import { maxAnswerHeadBytes } from '@payment-integration/contract/internal-io'
import { checkNotificationUrl, type NotificationUrlRule } from '@payment-integration/core/internal'
import type { Sender } from '@payment-integration/core/ports'
import { Agent } from 'undici'
import { createRangeCheck } from '../internal/address-ranges.js'
import { exchange, type Target } from './exchange.js'
import { createGuardedConnector } from './guarded-connector.js'
import { createResolve } from './resolve-name.js'
import { senderDefaults } from './sender-defaults.js'

/** The reach and the limits of a sender. */
export interface UndiciSenderOptions {
  /** Dev only: endpoints on this machine are reachable, by `http:` or `https:`. @default false */
  readonly allowLoopbackHttp?: boolean | undefined
  /** DNS servers to ask, each an IP address with or without a port, such as `10.0.0.2:5353`. @default the system's */
  readonly servers?: readonly string[] | undefined
  /** Addresses and CIDR ranges denied besides those that are not public, such as `203.0.113.0/24`. @default none */
  readonly denied?: readonly string[] | undefined
  /** Ports that an `https:` URL may name; include all that its registration allows. @default [443, 8443] */
  readonly ports?: readonly number[] | undefined
  /** Longest time to open a connection, in milliseconds; a POST's timeout may end it sooner. @default 5000 */
  readonly connectTimeoutMs?: number | undefined
  /** Maximum of connections to one origin. @default 128 */
  readonly connectionsPerOrigin?: number | undefined
  /** How long an idle connection is kept, in milliseconds. @default 4000 */
  readonly keepAliveMs?: number | undefined
  /** Longest use of a connection, in milliseconds. @default 60000 */
  readonly connectionAgeMs?: number | undefined
  /** How long the body of a 2xx may take after its head, in milliseconds; then it is cut off. @default 250 */
  readonly successBodyMs?: number | undefined
  /** Certificates to trust instead of the system's, as PEM. @default the system's */
  readonly ca?: string | undefined
}

export interface ClosableSender extends Sender {
  /** Closes every connection. */
  close(): Promise<void>
}

/** The most URLs whose target is cached. */
const maxKnownTargets = 1_000

/**
 * Creates a sender for the internet. One timeout covers DNS, connect, TLS, headers and body. Redirects are answers,
 * never followed. Addresses that are not public, NAT64 included, are rejected while connecting. It uses no proxy, no
 * decompression and no cookies. Once the status arrives in time, a broken body cannot change the result.
 * @throws RangeError When an option is out of range.
 * @throws TypeError When a DNS server is not an IP address with or without a port, or a denied range is malformed.
 * @example
 * import { createUndiciSender } from '@payment-integration/server'
 * const sender = createUndiciSender({ connectTimeoutMs: 2_000 })
 */
export function createUndiciSender(options: UndiciSenderOptions = {}): ClosableSender {
  const { servers, denied, ca, ports = senderDefaults.ports } = options
  const { allowLoopbackHttp = senderDefaults.allowLoopbackHttp } = options
  const { connectTimeoutMs = senderDefaults.connectTimeoutMs } = options
  const { connectionsPerOrigin = senderDefaults.connectionsPerOrigin } = options
  const { keepAliveMs = senderDefaults.keepAliveMs, connectionAgeMs = senderDefaults.connectionAgeMs } = options
  const { successBodyMs = senderDefaults.successBodyMs } = options
  const numbers = { connectTimeoutMs, connectionsPerOrigin, keepAliveMs, connectionAgeMs, successBodyMs }
  for (const [name, value] of Object.entries(numbers))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`${name} is ${value}; pass a whole number from 1.`)
  const resolve = createResolve({ servers, allowLoopback: allowLoopbackHttp })
  const connector = createGuardedConnector({ allowLoopbackHttp, resolve, denied, ca, connectTimeoutMs })
  const agents = createRotatingAgents(
    () =>
      new Agent({
        connect: connector.connect,
        connections: connectionsPerOrigin,
        keepAliveTimeout: keepAliveMs,
        keepAliveMaxTimeout: connectionAgeMs,
        maxHeaderSize: maxAnswerHeadBytes,
        // The timeout of each POST is the only timeout.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
    connectionAgeMs,
  )
  const findTarget = createTargetFinder({ allowLoopbackHttp, ports, isDeniedAddress: createRangeCheck(denied ?? []) })
  return {
    post(post) {
      const startedAt = performance.now()
      const target = findTarget(post.url)
      if (target === null) return Promise.resolve({ kind: 'failure', reason: 'rejected_address', latencyMs: 0 })
      return exchange(agents.at(startedAt), target, post, { startedAt, successBodyMs })
    },
    async close() {
      connector.abandon()
      await agents.destroy()
    },
  }
}

/**
 * Rotates agents, so that no connection is used longer than `ageMs`. The library's own limit scans every connection of
 * an origin on each request.
 */
function createRotatingAgents(create: () => Agent, ageMs: number) {
  let current = create()
  let bornAt = performance.now()
  const retired = new Set<Agent>()
  return {
    /** The agent for a time of `performance.now()`. */
    at(now: number): Agent {
      if (now - bornAt < ageMs) return current
      const old = current
      retired.add(old)
      // Requests in flight on the old agent continue until their own timeouts.
      old.close().then(
        () => retired.delete(old),
        () => retired.delete(old),
      )
      current = create()
      bornAt = now
      return current
    },
    async destroy(): Promise<void> {
      await Promise.all([current, ...retired].map((agent) => agent.destroy()))
    },
  }
}

/**
 * Applies the registration rule again: another version or program may have written the database. Recent targets are
 * cached, because the same few URLs repeat thousands of times.
 */
function createTargetFinder(rule: NotificationUrlRule): (url: string) => Target | null {
  const targets = new Map<string, Target | null>()
  return (url) => {
    const cached = targets.get(url)
    if (cached !== undefined) return cached
    if (targets.size >= maxKnownTargets) targets.clear()
    const target = parseTarget(url, rule)
    targets.set(url, target)
    return target
  }
}

function parseTarget(url: string, rule: NotificationUrlRule): Target | null {
  try {
    const { origin, pathname, search } = checkNotificationUrl(url, rule)
    return { origin, path: `${pathname}${search}` }
  } catch {
    return null
  }
}
