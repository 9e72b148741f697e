/** Reads the variables of the integrators' pages. @module */
import type { Config, PortalConfig } from './config.js'
import { loopbackAddresses, readUrl } from './console-variables.js'
import type { Variables } from './variables.js'

/** Names of these variables. */
export const portalVariables = ['PI_PORTAL', 'PI_PORTAL_URL'] as const

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
    if (environment !== 'development' || !loopbackAddresses.includes(host))
      problems.push(
        'PI_PORTAL is on without PI_PORTAL_URL; set the origin that integrators open, such as https://pay.example.',
      )
    return { publicUrl: null }
  }
  return { publicUrl: readUrl('PI_PORTAL_URL', url, problems) }
}
