/** Names endpoints, and decides when a failing one is blocked. See docs/decisions/retries.md. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import type { EndpointChange, EndpointHealth, EndpointResult } from './delivery-store.js'
import { applyJitter } from './retry-schedule.js'

/** The most URLs in the cache: parsing a URL is the costly part of counting a slot. */
const maxCachedEndpoints = 4_096
const cache = new Map<string, string>()

/** Host and port of a notification URL in lowercase, such as `shop.example:443`; of other text, the text itself. */
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
  if (!url?.hostname) return text
  const { protocol, hostname, port } = url
  // A fully qualified name may end in a dot; it names the same host.
  return `${hostname.replace(/\.$/, '')}:${port || (protocol === 'http:' ? 80 : 443)}`
}

/** Failed attempts in a row that block an endpoint. */
export const failuresUntilBlock = 5
/** The first block, in milliseconds, before cap and jitter; each failed probe doubles it. */
const blockBaseMs = 5_000

/**
 * Computes an endpoint's health from results in order. A delivered attempt resets it. The fifth failure in a row blocks
 * the endpoint. During a block only a failed probe blocks again: other POSTs were in flight when the block began.
 * `fraction`: as for {@link applyJitter}.
 */
export function judgeEndpoint(
  before: EndpointHealth,
  results: readonly EndpointResult[],
  { capMs, fraction }: { readonly capMs: number; readonly fraction: number },
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
    blockMs = applyJitter(Math.min(capMs, blockBaseMs * 2 ** (blocks - 1)), fraction)
  }
  return { failures, blocks, blockMs }
}
