/** The retry schedule, the verdict on an attempt, and blocked endpoints. See docs/decisions/retries.md. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import { parseRetryAfter } from '@payment-integration/contract/internal-io'
import type { PostResult } from '../ports/runtime.js'
import type { AttemptVerdict, EndpointChange, EndpointHealth, EndpointResult } from './delivery-store.js'

/** Most URLs in the cache: parsing a URL is the costly part of counting a slot. */
const maxCachedEndpoints = 4_096

const cache = new Map<string, string>()

/** Its host and port in lowercase, such as `shop.example:443`. A text that is no URL is its own endpoint. */
export function getEndpoint(notificationUrl: string): string {
  const cached = cache.get(notificationUrl)
  if (cached !== undefined) return cached
  const endpoint = parseEndpoint(notificationUrl)
  if (cache.size >= maxCachedEndpoints) cache.clear()
  cache.set(notificationUrl, endpoint)
  return endpoint
}

function parseEndpoint(text: string): string {
  const url = parseUrl(text)
  if (url === null) return text
  const { protocol, hostname, port } = url
  if (hostname === '') return text
  // A fully qualified name may end in a dot; it names the same host.
  return `${hostname.replace(/\.$/, '')}:${port || (protocol === 'http:' ? 80 : 443)}`
}

/** Failed attempts in a row that block an endpoint. */
export const failuresUntilBlock = 5

/** The first block, in milliseconds, before cap and jitter; each failed probe doubles it. */
const blockBaseMs = 5_000

const blockJitter = 0.2

/** The longest block with a cap before jitter, in milliseconds. */
export const computeMaxBlockMs = (capMs: number): number => Math.ceil(capMs * (1 + blockJitter))

interface BlockLimits {
  readonly capMs: number
  readonly fraction: number
}

/**
 * A delivered attempt resets the health. The fifth failure in a row blocks; during a block only a failed probe blocks
 * again, since other results were in flight when it began. `fraction`: position in the jitter, 0 is -20 %, 1 is +20 %.
 */
export function judgeEndpoint(
  before: EndpointHealth,
  results: readonly EndpointResult[],
  limits: BlockLimits,
): EndpointChange {
  let { failures, blocks } = before
  let blockMs: number | null = null
  for (const { delivered, probe } of results) {
    if (delivered) {
      failures = 0
      blocks = 0
      blockMs = null
      continue
    }
    failures += 1
    if (blocks === 0 ? failures < failuresUntilBlock : !probe) continue
    blocks += 1
    blockMs = computeBlockMs(blocks, limits)
  }
  return { failures, blocks, blockMs }
}

function computeBlockMs(blocks: number, { capMs, fraction }: BlockLimits): number {
  const planned = Math.min(capMs, blockBaseMs * 2 ** (blocks - 1))
  return Math.round(planned * (1 - blockJitter + 2 * blockJitter * fraction))
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Planned delay after each failed attempt, in milliseconds, before jitter. */
export const retryDelaysMs: readonly number[] = [
  5_000,
  30_000,
  2 * minuteMs,
  10 * minuteMs,
  30 * minuteMs,
  hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
  24 * hourMs,
  24 * hourMs,
]

/** Most attempts of one delivery: the first, and a retry per delay. */
export const maxAttempts = retryDelaysMs.length + 1

const retryJitter = 0.2

/** The longest delay that a `Retry-After` header can cause, in milliseconds. */
export const retryAfterCapMs = hourMs

/** The longest wait after the failed attempt of each step, in milliseconds: with jitter, or by `Retry-After`. */
export const maxRetryDelaysMs: readonly number[] = retryDelaysMs.map((delay) =>
  Math.max(retryAfterCapMs, delay * (1 + retryJitter)),
)

/** The result of a POST, or the reason why nothing was sent. */
export type AttemptResult =
  | PostResult
  | {
      readonly kind: 'failure'
      readonly reason: 'secret_unreadable'
      readonly status?: undefined
      readonly latencyMs: number
    }

/**
 * Null after the last attempt. `step`: from 1. `fraction`: position in the jitter; 0 is -20 %, 0.5 none, 1 is +20 %.
 */
export function planDelayMs(step: number, fraction: number): number | null {
  const delay = retryDelaysMs[step - 1]
  return delay === undefined ? null : Math.round(delay * (1 - retryJitter + 2 * retryJitter * fraction))
}

/** The reason of a failure in the attempt log: `status_<n>` or the network's; null for any 2xx response. */
export function getFailureReason(result: AttemptResult): string | null {
  if (result.kind === 'failure') return result.reason
  return result.status >= 200 && result.status <= 299 ? null : `status_${result.status}`
}

/** The answer of an attempt in words: its status, the reason for none, or both for a malformed answer. */
export function formatAnswer({ status, reason }: { readonly status: number | null; readonly reason: string | null }) {
  if (status === null) return reason ?? 'no answer'
  return reason === null || reason === `status_${status}` ? String(status) : `${reason} (${status})`
}

/**
 * Any 2xx is delivered; everything else failed, redirects included. A retry comes after the planned delay, or after a
 * longer `Retry-After` of up to an hour. A 410 and the last failure exhaust the delivery.
 */
export function decideVerdict(options: {
  /** The attempt's step of the schedule, from 1; a replay starts again at 1. */
  readonly step: number
  readonly result: AttemptResult
  readonly fraction: number
  readonly now: number
}): AttemptVerdict {
  const { step, result, fraction, now } = options
  if (getFailureReason(result) === null) return { kind: 'delivered' }
  if (result.kind === 'answer' && result.status === 410) return { kind: 'exhausted' }
  const planned = planDelayMs(step, fraction)
  if (planned === null) return { kind: 'exhausted' }
  const retryAfterMs = result.kind === 'answer' ? parseRetryAfter(result.retryAfter, now) : null
  return { kind: 'retry', inMs: Math.max(planned, Math.min(retryAfterMs ?? 0, retryAfterCapMs)) }
}
