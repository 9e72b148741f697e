/** Reads the variables for limits, administration, the reference, delivery streams and simulated chains. @module */
import { problemOfRange } from '../internal/address-ranges.js'
import type { AdminConfig, Config, LimitsConfig } from './config.js'
import { readHostOf, show, type Variables } from './variables.js'

/** Names of these variables. */
export const accessVariables = [
  'PI_LISTEN',
  'PI_SIMULATED_CHAINS',
  'PI_REFERENCE',
  'PI_ADMIN_HOST',
  'PI_ADMIN_PORT',
  'PI_METRICS_TOKEN',
  'PI_LIMIT_PER_SOURCE',
  'PI_LIMIT_PER_CALLER',
  'PI_LIMIT_FAILED_SIGN_INS',
  'PI_LIMIT_CONNECTIONS',
  'PI_TRUSTED_PROXIES',
] as const

/** Shortest token that is accepted, in characters. */
const minTokenLength = 16
const mostRequests = 1_000_000

/** Reads `PI_LISTEN`. */
export function readListen(variables: Variables): boolean {
  return variables.choice('PI_LISTEN', ['on', 'off'], 'off') === 'on'
}

const mostSimulated = 16

/** Reads `PI_SIMULATED_CHAINS`: ids of chains without a node, separated by commas. Only development may simulate. */
export function readSimulatedChains({ text, problems }: Variables, environment: Config['environment']): number[] {
  const value = text('PI_SIMULATED_CHAINS')
  if (value === undefined) return []
  const ids = value.split(',').map((id) => id.trim())
  if (environment !== 'development')
    problems.push('PI_SIMULATED_CHAINS is set; payments without a chain are only made with PI_ENV=development.')
  if (ids.length > mostSimulated || new Set(ids).size < ids.length || !ids.every((id) => /^[1-9]\d{0,14}$/.test(id)))
    problems.push(`PI_SIMULATED_CHAINS must be up to ${mostSimulated} different chain ids, such as 137,10.`)
  for (const id of ids)
    if (text(`PI_RPC_URL_${id}`) !== undefined)
      problems.push(`PI_SIMULATED_CHAINS names ${id}, which PI_RPC_URL_${id} reads.`)
  return ids.map(Number)
}

/** Reads `PI_REFERENCE`. */
export function readReference(variables: Variables, environment: Config['environment']): boolean {
  return variables.choice('PI_REFERENCE', ['on', 'off'], environment === 'development' ? 'on' : 'off') === 'on'
}

/**
 * Reads `PI_ADMIN_HOST`, `PI_ADMIN_PORT` and `PI_METRICS_TOKEN`.
 * @param api - The API's address.
 * @param servesRequests - Whether the process listens there.
 */
export function readAdmin(
  variables: Variables,
  api: { readonly host: string; readonly port: number },
  servesRequests: boolean,
): AdminConfig {
  const { text, problems } = variables
  const metricsToken = readToken(variables)
  if (text('PI_ADMIN_PORT') === undefined) {
    if (metricsToken !== null && !servesRequests)
      problems.push('PI_METRICS_TOKEN is set, and PI_ROLES serve no requests; metrics need PI_ADMIN_PORT then.')
    if (text('PI_ADMIN_HOST') !== undefined) problems.push('PI_ADMIN_HOST is set; it is only used with PI_ADMIN_PORT.')
    return { listen: null, metricsToken }
  }
  const port = variables.integer('PI_ADMIN_PORT', { min: 0, max: 65_535, unit: 'a port' }, 0)
  const host = readHostOf('PI_ADMIN_HOST', variables)
  if (port !== 0 && port === api.port && host === api.host)
    problems.push(`PI_ADMIN_PORT is ${port}, where the API listens; choose another port.`)
  return { listen: { host, port }, metricsToken }
}

/** Reads the `PI_LIMIT_…` variables and `PI_TRUSTED_PROXIES`. */
export function readLimits(variables: Variables): LimitsConfig {
  const most = (name: (typeof accessVariables)[number], unit: string) =>
    variables.text(name) === undefined ? null : variables.integer(name, { min: 1, max: mostRequests, unit }, 1)
  return {
    requestsPerSource: most('PI_LIMIT_PER_SOURCE', 'requests per second'),
    requestsPerCaller: most('PI_LIMIT_PER_CALLER', 'requests per second'),
    failedSignInsPerSource: most('PI_LIMIT_FAILED_SIGN_INS', 'refusals per minute'),
    connectionsPerSource: most('PI_LIMIT_CONNECTIONS', 'a number of connections'),
    trustedProxies: readProxies(variables),
  }
}

function readToken({ text, problems }: Variables): string | null {
  const token = text('PI_METRICS_TOKEN')
  if (token === undefined) return null
  if (!/^[\x21-\x7e]{1,512}$/.test(token))
    problems.push('PI_METRICS_TOKEN holds a space or a character that no header can carry, or more than 512 of them.')
  else if (token.length < minTokenLength)
    problems.push(`PI_METRICS_TOKEN has ${token.length} characters; expected at least ${minTokenLength}.`)
  return token
}

function readProxies({ text, problems }: Variables): readonly string[] {
  const value = text('PI_TRUSTED_PROXIES')
  if (value === undefined) return []
  const ranges = value.split(',').map((each) => each.trim())
  for (const range of ranges) {
    const problem = problemOfRange(range)
    if (problem !== null)
      problems.push(
        `PI_TRUSTED_PROXIES has ${show(range)}, which ${problem}; expected addresses and ranges such as 10.0.0.7, 10.0.0.0/24 or 2001:db8::/32.`,
      )
  }
  return ranges
}
