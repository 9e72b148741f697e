/** The endpoint (host and port) of a notification URL. See docs/decisions/fairness.md. @module */
import { parseUrl } from '@payment-integration/contract'

/** Most URLs in the cache: parsing a URL is the costly part of counting a slot. */
const maxCached = 4_096

const cache = new Map<string, string>()

/**
 * The endpoint of a notification URL: its host and port in lowercase, such as `shop.example:443`. URLs that differ only
 * in path or query share one. A text that is no URL is its own endpoint.
 */
export function endpointOf(notificationUrl: string): string {
  const cached = cache.get(notificationUrl)
  if (cached !== undefined) return cached
  const endpoint = parseEndpoint(notificationUrl)
  if (cache.size >= maxCached) cache.clear()
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
