/** Reads the address of the console. Source: docs/decisions/operators.md. @module */
import { parseUrl } from '@payment-integration/contract'
import type { Variables } from './variables.js'

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Reads `PI_CONSOLE_URL`, by default this machine at `port`. Returns an origin: one-time links are made from it. */
export function readConsoleUrl({ text, problems }: Variables, port: number): string {
  const given = text('PI_CONSOLE_URL')
  if (given === undefined) return `http://127.0.0.1:${port}`
  const url = parseUrl(given)
  const isScheme = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopbackHosts.has(url.hostname))
  // The value is not shown: it may hold a password.
  if (url === null || !isScheme || url.href !== `${url.origin}/`) {
    problems.push(
      'PI_CONSOLE_URL is not usable; expected https://<host> without path, query or credentials (http:// only to this machine).',
    )
    return ''
  }
  return url.origin
}
