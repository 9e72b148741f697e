/** Reads the variables of the integrators' pages. @module */
import { parseUrl } from '@payment-integration/contract'
import type { Config, PortalConfig } from './config.js'
import { show, type Variables } from './variables.js'

/** Names of these variables. */
export const portalVariables = ['PI_PORTAL', 'PI_PORTAL_URL'] as const

const loopbackHosts = new Set(['127.0.0.1', '::1', '[::1]', 'localhost'])

/**
 * Reads `PI_PORTAL` and `PI_PORTAL_URL`; null when the pages are not served. Without a URL they answer this machine
 * alone, which development permits on a loopback address.
 */
export function readPortal(
  variables: Variables,
  environment: Config['environment'],
  host: string,
): PortalConfig | null {
  const { text, problems } = variables
  const isOn = variables.choice('PI_PORTAL', ['on', 'off'], 'off') === 'on'
  const url = text('PI_PORTAL_URL')
  if (!isOn) {
    if (url !== undefined) problems.push('PI_PORTAL_URL is set; it is only used with PI_PORTAL=on.')
    return null
  }
  if (url === undefined) {
    if (environment !== 'development' || !loopbackHosts.has(host))
      problems.push(
        'PI_PORTAL is on without PI_PORTAL_URL; set the origin that integrators open, such as https://pay.example.',
      )
    return { publicUrl: null }
  }
  const origin = originOf(url)
  if (origin === null)
    problems.push(
      `PI_PORTAL_URL is ${show(url)}; expected an origin without a path, such as https://pay.example (http: for loopback alone).`,
    )
  return { publicUrl: origin }
}

/** The session's cookie needs TLS, or a loopback address. */
function originOf(text: string): string | null {
  const url = parseUrl(text)
  if (url === null || url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '') return null
  if (url.protocol === 'https:') return url.origin
  return url.protocol === 'http:' && loopbackHosts.has(url.hostname) ? url.origin : null
}
