/** Which server a notification URL leads to. Source: docs/decisions/fairness.md. @module */

/** Most URLs whose endpoint is kept: reading one costs more than everything else that is done with it. */
const mostKept = 4_096

const kept = new Map<string, string>()

/**
 * The endpoint of a notification URL: its host and port, lowercased, such as `shop.example:443`. URLs that differ in nothing but path or
 * query have the same endpoint, as one server answers them. What is no URL stands for itself.
 */
export function endpointOf(notificationUrl: string): string {
  const known = kept.get(notificationUrl)
  if (known !== undefined) return known
  const endpoint = readEndpoint(notificationUrl)
  if (kept.size >= mostKept) kept.clear()
  kept.set(notificationUrl, endpoint)
  return endpoint
}

function readEndpoint(text: string): string {
  if (!URL.canParse(text)) return text
  const { protocol, hostname, port } = new URL(text)
  if (hostname === '') return text
  // The dot at the end of a fully qualified name changes nothing about where it leads.
  return `${hostname.replace(/\.$/, '')}:${port || (protocol === 'http:' ? 80 : 443)}`
}
