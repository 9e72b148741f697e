/** Reads the variables of the operators' pages. Source: docs/decisions/operators.md. @module */
import { parseUrl } from '@payment-integration/contract'
import type { Config } from './config.js'
import { show, type Variables } from './variables.js'

/** Names of these variables. */
export const consoleVariables = ['PI_CONSOLE', 'PI_CONSOLE_URL'] as const

/** Values of `PI_HOST` that this machine alone can reach. */
export const loopbackAddresses: readonly string[] = ['127.0.0.1', '::1', 'localhost']
const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Reads `PI_CONSOLE` and `PI_CONSOLE_URL`. Without a URL nobody signs in: the pages are then served in development
 * alone, to this machine alone.
 */
export function readConsole(
  variables: Variables,
  environment: Config['environment'],
  host: string,
): Pick<Config, 'console' | 'consoleUrl'> {
  const { text, problems } = variables
  const isOn = variables.choice('PI_CONSOLE', ['on', 'off'], 'off') === 'on'
  const given = text('PI_CONSOLE_URL')
  if (given !== undefined) return { console: isOn, consoleUrl: readUrl('PI_CONSOLE_URL', given, problems) }
  const why = 'PI_CONSOLE is on without PI_CONSOLE_URL, so nobody signs in'
  if (isOn && environment !== 'development')
    problems.push(`${why}; set PI_CONSOLE_URL, or PI_ENV=development for pages without sign-in.`)
  if (isOn && !loopbackAddresses.includes(host))
    problems.push(`${why}; set PI_CONSOLE_URL, or a loopback address as PI_HOST instead of ${show(host)}.`)
  return { console: isOn, consoleUrl: null }
}

/** Reads the origin of pages that people sign in to; empty after a problem. */
export function readUrl(name: string, given: string, problems: string[]): string {
  const url = parseUrl(given)
  if (url !== null && isSecure(url) && url.href === `${url.origin}/`) return url.origin
  // The value is not shown: it may hold a password.
  problems.push(
    `${name} is not usable; expected https://<host> without path, query or credentials (http:// only to this machine).`,
  )
  return ''
}

/** Whether only TLS, or this machine, carries requests to a URL. */
export function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && loopbackHosts.has(hostname))
}
