/** Reads what an integrator's commands need: the server, the integration and its secrets. @module */
import { existsSync } from 'node:fs'
import { parseUrl } from '@payment-integration/contract'
import { UsageError } from './errors.js'
import type { Io } from './io.js'
import { readEnvFile, type Variables, variableName } from './variables.js'

/** The names that `dev` writes and the examples use. */
export const integratorNames = {
  server: 'PAYMENTS_URL',
  integration: 'INTEGRATION_ADDRESS',
  apiSecret: 'API_SECRET',
} as const

const defaultEnvFile = '.env.local'

/**
 * The variables of the environment and of a file; those of the environment win, and empty ones count as not set.
 * @param envFile - The value of `--env-file`. @default .env.local, where there is one
 * @throws UsageError `ERR_USAGE` when the file cannot be read.
 */
export async function readIntegratorVariables(
  envFile: string | undefined,
  { env }: Pick<Io, 'env'>,
): Promise<Variables> {
  const fromFile = await variablesOf(envFile)
  return withoutEmpty({ ...fromFile, ...withoutEmpty(env) })
}

async function variablesOf(envFile: string | undefined): Promise<Variables> {
  if (envFile !== undefined) return readEnvFile(envFile, '--env-file')
  return existsSync(defaultEnvFile) ? readEnvFile(defaultEnvFile, defaultEnvFile) : {}
}

function withoutEmpty(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''))
}

/**
 * The base URL of the server, to which credentials may be sent.
 * @throws UsageError `ERR_USAGE` when it is missing, malformed, or http to another machine.
 */
export function readServerUrl(given: string | undefined, variables: Variables): URL {
  const server = parseUrl(given ?? variables[integratorNames.server] ?? '')
  if (server === null) throw new UsageError(`The server is unknown; pass --server or set ${integratorNames.server}.`)
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(server.hostname)
  if (server.protocol !== 'https:' && !(server.protocol === 'http:' && isLoopback))
    throw new UsageError(
      '--server must be https: its credentials would be readable on the way. http: only to this machine.',
    )
  if (server.username !== '' || server.password !== '' || server.search !== '' || server.hash !== '')
    throw new UsageError('--server must have no user, query or fragment.')
  return server
}

/** A path of the server, below the path of its base URL. */
export function serverPath(server: URL, path: string): URL {
  const url = new URL(server)
  url.pathname = `${server.pathname.replace(/\/{1,64}$/, '')}${path}`
  return url
}

/** The address of the integration, lowercased. @throws UsageError `ERR_USAGE` when it is missing or malformed. */
export function readIntegration(given: string | undefined, variables: Variables): string {
  const integration = (given ?? variables[integratorNames.integration] ?? '').toLowerCase()
  if (!/^0x[0-9a-f]{40}$/.test(integration))
    throw new UsageError(`The integration is unknown; pass --integration or set ${integratorNames.integration}.`)
  return integration
}

/** The secret in a variable. @throws UsageError `ERR_USAGE` when it is not set. */
export function readSecretIn(name: string, variables: Variables): string {
  const value = variables[variableName(name)]
  if (!value) throw new UsageError(`${name} is not set; put the secret into it.`)
  return value
}

/** The value of the header `Authorization`. */
export function basicAuthorization(integration: string, apiSecret: string): string {
  return `Basic ${Buffer.from(`${integration}:${apiSecret}`).toString('base64')}`
}
