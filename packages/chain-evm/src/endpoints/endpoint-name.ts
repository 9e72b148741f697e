/** The name of an endpoint, for operators. @module */
import { parseUrl } from '@payment-integration/contract'
import { secretLabels } from '../internal/url-parts.js'

/**
 * Host and number, such as `rpc.node.example #2`; never a path, a query or a user. A long label in front of the domain
 * may be a key, so it is shown as `*`.
 * @param position - From 1.
 */
export function endpointName(url: string | undefined, position: number): string {
  const hostname = parseUrl(url ?? '')?.hostname
  if (hostname === undefined) return `transport #${position}`
  const secret = new Set(secretLabels(hostname))
  const shown = /^[\d.]+$/.test(hostname)
    ? hostname
    : hostname
        .split('.')
        .map((label) => (secret.has(label) ? '*' : label))
        .join('.')
  return `${shown} #${position}`
}
