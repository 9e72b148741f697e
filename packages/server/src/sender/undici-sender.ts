/** Posts notifications with undici. Source: INTERFACE 6 (delivery), DESIGN section 3 (redirects and addresses). @module */
import type { LookupFunction } from 'node:net'
import type { Post, PostFailure, PostResult, Sender } from '@payment-integration/core'
import { Agent, errors } from 'undici'
import { AddressRefusedError } from './address-refused-error.js'
import { type Budget, BudgetSpentError, startBudget } from './budget.js'
import { guardedConnector } from './guarded-connector.js'

/** Options of the sender. */
export interface UndiciSenderOptions {
  /** Dev only: endpoints on this machine are reachable, by `http:` or `https:`. @default false */
  readonly allowLoopbackHttp?: boolean | undefined
  /** Resolves names, like `dns.lookup`; what it answers is checked. @default dns.lookup */
  readonly lookup?: LookupFunction | undefined
  /** Most connections to one origin. @default 32 */
  readonly connectionsPerOrigin?: number | undefined
  /** How long an idle connection is kept, in milliseconds. @default 4000 */
  readonly keepAliveMs?: number | undefined
  /** How long a connection is used at most, in milliseconds. @default 60000 */
  readonly connectionAgeMs?: number | undefined
  /** Certificates to trust instead of the system's, as PEM. @default the system's */
  readonly ca?: string | undefined
}

/** Defaults of {@link UndiciSenderOptions}. */
export const senderDefaults = {
  allowLoopbackHttp: false,
  connectionsPerOrigin: 32,
  keepAliveMs: 4_000,
  connectionAgeMs: 60_000,
} as const

/** A sender that holds connections. */
export interface ClosableSender extends Sender {
  /** Ends every connection. */
  close(): Promise<void>
}

/** Most bytes of a response that are read, and thrown away, to keep a connection usable. */
const discardBytes = 16 * 1024

/**
 * A sender for the open internet. One time budget over DNS, connect, TLS, headers and body; redirects are answers, never
 * followed; private, loopback and translated addresses are refused inside the connection; no proxy, no decompression, no
 * cookies. The status decides: once it arrived in time, the body cannot change the result.
 * @throws RangeError When an option is out of range.
 */
export function createUndiciSender(options: UndiciSenderOptions = {}): ClosableSender {
  const { allowLoopbackHttp = senderDefaults.allowLoopbackHttp, lookup, ca } = options
  const { connectionsPerOrigin = senderDefaults.connectionsPerOrigin } = options
  const { keepAliveMs = senderDefaults.keepAliveMs, connectionAgeMs = senderDefaults.connectionAgeMs } = options
  for (const [name, value] of Object.entries({ connectionsPerOrigin, keepAliveMs, connectionAgeMs }))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`${name} is ${value}; pass a whole number from 1.`)
  const agent = new Agent({
    connect: guardedConnector({ allowLoopbackHttp, lookup, ca, connectTimeoutMs: 10_000 }),
    connections: connectionsPerOrigin,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: connectionAgeMs,
    clientTtl: connectionAgeMs,
    maxHeaderSize: discardBytes,
    // The budget of each post is the only clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    async post(post) {
      const startedAt = performance.now()
      const latencyMs = () => Math.round(performance.now() - startedAt)
      const target = parseTarget(post.url, allowLoopbackHttp)
      if (target === null) return { kind: 'failure', reason: 'refused_address', latencyMs: latencyMs() }
      const budget = startBudget(post.timeoutMs, post.signal)
      try {
        return await exchange(agent, target, post, budget, latencyMs)
      } catch (error) {
        return { kind: 'failure', reason: reasonOf(error), latencyMs: latencyMs() }
      } finally {
        budget.end()
      }
    },
    close: () => agent.destroy(),
  }
}

async function exchange(
  agent: Agent,
  target: URL,
  { headers, body }: Post,
  budget: Budget,
  latencyMs: () => number,
): Promise<PostResult> {
  const { signal, over } = budget
  const { origin, pathname, search } = target
  const request = agent.request({ origin, path: `${pathname}${search}`, method: 'POST', headers, body, signal })
  // While a connection is being made undici does not look at the signal, so the budget is awaited beside it.
  request.then(
    (late) => signal.aborted && late.body.on('error', () => undefined).destroy(),
    () => undefined,
  )
  const answer = await Promise.race([request, over])
  const retryAfter = answer.headers['retry-after']
  const result: PostResult = {
    kind: 'answer',
    status: answer.statusCode,
    retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null,
    latencyMs: latencyMs(),
  }
  await answer.body.dump({ limit: discardBytes, signal }).catch(() => undefined)
  return result
}

function parseTarget(url: string, allowLoopbackHttp: boolean): URL | null {
  if (!URL.canParse(url)) return null
  const target = new URL(url)
  const isScheme = target.protocol === 'https:' || (allowLoopbackHttp && target.protocol === 'http:')
  return isScheme && target.username === '' && target.password === '' ? target : null
}

function reasonOf(error: unknown): PostFailure {
  if (error instanceof AddressRefusedError) return 'refused_address'
  if (error instanceof BudgetSpentError || error instanceof errors.ConnectTimeoutError) return 'timeout'
  return 'connection'
}
