/** Reads the configuration from the environment and collects all problems. @module */
import { parseUrl } from '@payment-integration/contract'
import { defaultMaxExtraFeeBps, parseMasterKey } from '@payment-integration/core'
import {
  accessVariables,
  readAdmin,
  readLimits,
  readListen,
  readReference,
  readSimulatedChains,
} from './access-variables.js'
import { chainIdOf, readChains } from './chain-variables.js'
import { type Config, ConfigError, logLevels, type ReceiptsConfig } from './config.js'
import { consoleVariables, readConsole } from './console-variables.js'
import { databaseVariables, readDatabase, readMigrates } from './database-variables.js'
import { readActor, readDelivery } from './delivery-variables.js'
import { feedVariables, readFeed } from './feed-variables.js'
import { identityVariables, readIdentity } from './identity-variables.js'
import { observationVariables, readAccessLog, readTracing } from './observation-variables.js'
import { oidcVariables, readOidc } from './oidc-variables.js'
import { portalVariables, readPortal } from './portal-variables.js'
import { readRetention, retentionVariables } from './retention-variables.js'
import { readRoles } from './role-variables.js'
import {
  type Environment,
  fileVariables,
  type ReadFile,
  readHostOf,
  readVariables,
  type Variables,
} from './variables.js'

const names = new Set<string>([
  'PI_ENV',
  'PI_HOST',
  'PI_PORT',
  'PI_MASTER_KEY',
  'PI_PROCESSOR_SECRETS',
  'PI_RECORD',
  'PI_RECEIPTS',
  'PI_RECEIPTS_URL',
  'PI_MAX_EXTRA_FEE_BPS',
  'PI_DELIVERY_CONCURRENCY',
  'PI_DELIVERY_PER_ENDPOINT',
  'PI_DELIVERY_DENY',
  'PI_DNS_SERVERS',
  'PI_ACTOR',
  'PI_LOG_LEVEL',
  'PI_LEASE_MS',
  'PI_ROLES',
  'PI_KEEP_ALIVE_MS',
  'PI_DRAIN_MS',
  'PI_SHUTDOWN_TIMEOUT_MS',
  ...identityVariables,
  ...observationVariables,
  ...accessVariables,
  ...consoleVariables,
  ...oidcVariables,
  ...portalVariables,
  ...databaseVariables,
  ...feedVariables,
  ...retentionVariables,
  ...fileVariables,
])

/** Shortest processor secret that is accepted, in characters. */
const minSecretLength = 16

/**
 * Reads `PI_…` variables; docs/configuration.md lists them with units and defaults.
 * @param readFile - Reads a file that a `PI_…_FILE` variable names. @default from the disk
 * @throws ConfigError `ERR_CONFIG` with every problem, each naming its variable and never a secret value.
 * @example const config = readConfig(process.env)
 */
export function readConfig(env: Environment, readFile?: ReadFile): Config {
  const variables = readVariables(env, readFile)
  const { problems } = variables
  const environment = variables.choice('PI_ENV', ['production', 'development'], 'production')
  const processorSecrets = readSecrets(variables)
  const host = readHostOf('PI_HOST', variables)
  const port = variables.integer('PI_PORT', { min: 0, max: 65_535, unit: 'a port' }, 4_747)
  const { console, consoleUrl } = readConsole(variables, environment, host)
  const database = readDatabase(variables)
  const portal = readPortal(variables, environment, host)
  const chains = readChains(env, variables)
  const simulatedChains = readSimulatedChains(variables, environment)
  const roles = readRoles(variables, {
    chainIds: [...chains.map(({ chainId }) => chainId), ...simulatedChains],
    simulatedChainIds: simulatedChains,
    hasPages: console || portal !== null,
  })
  const config: Config = {
    environment,
    host,
    port,
    database,
    migrates: readMigrates(variables, database),
    retention: readRetention(variables),
    masterKey: readMasterKey(variables),
    processorSecrets,
    chains,
    feed: readFeed(variables),
    recording: variables.choice('PI_RECORD', ['all', 'own'], 'all'),
    leaseMs: variables.integer('PI_LEASE_MS', { min: 1_000, max: 600_000, unit: 'milliseconds' }, 15_000),
    receipts: readReceipts(variables, processorSecrets.length > 0, environment),
    delivery: readDelivery(variables),
    identity: readIdentity(variables, environment),
    actor: readActor(variables),
    maxExtraFeeBps: variables.integer(
      'PI_MAX_EXTRA_FEE_BPS',
      { min: 0, max: 10_000, unit: 'basis points' },
      defaultMaxExtraFeeBps,
    ),
    logLevel: variables.choice('PI_LOG_LEVEL', logLevels, 'info'),
    roles,
    admin: readAdmin(variables, { host, port }, roles.api || roles.console),
    accessLog: readAccessLog(variables),
    tracing: readTracing(variables),
    reference: readReference(variables, environment),
    console,
    consoleUrl,
    oidc: readOidc(variables, consoleUrl),
    portal,
    deliveryStream: readListen(variables),
    simulatedChains,
    limits: readLimits(variables),
    keepAliveMs: variables.integer('PI_KEEP_ALIVE_MS', { min: 1_000, max: 600_000, unit: 'milliseconds' }, 5_000),
    drainMs: variables.integer('PI_DRAIN_MS', { min: 0, max: 600_000, unit: 'milliseconds' }, 0),
    shutdownTimeoutMs: variables.integer(
      'PI_SHUTDOWN_TIMEOUT_MS',
      { min: 100, max: 600_000, unit: 'milliseconds' },
      10_000,
    ),
  }
  problems.push(...unknownVariables(env))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function readMasterKey({ text, problems }: Variables): string {
  const value = text('PI_MASTER_KEY')
  const expected = 'expected 32 random bytes as base64url or 64 hex digits, for example from `openssl rand -hex 32`'
  if (value === undefined) problems.push(`PI_MASTER_KEY is not set; ${expected}.`)
  else {
    try {
      parseMasterKey(value)
    } catch (error) {
      problems.push(`PI_MASTER_KEY is refused: ${error instanceof RangeError ? error.message : expected}`)
    }
  }
  return value ?? ''
}

function readSecrets({ text, problems }: Variables): readonly string[] {
  const value = text('PI_PROCESSOR_SECRETS')
  if (value === undefined) return []
  const secrets = value.split(',').map((secret) => secret.trim())
  secrets.forEach((secret, index) => {
    if (secret.length < minSecretLength)
      problems.push(
        `PI_PROCESSOR_SECRETS: secret ${index + 1} of ${secrets.length} has ${secret.length} characters; expected at least ${minSecretLength}.`,
      )
  })
  return secrets
}

function readReceipts(variables: Variables, hasProcessor: boolean, environment: Config['environment']): ReceiptsConfig {
  const { text, problems } = variables
  const kind = variables.choice('PI_RECEIPTS', ['off', 'chain', 'http'], hasProcessor ? 'off' : 'chain')
  const url = text('PI_RECEIPTS_URL')
  if (kind !== 'http') {
    if (url !== undefined) problems.push('PI_RECEIPTS_URL is set; it is only used with PI_RECEIPTS=http.')
    return { kind }
  }
  if (!hasProcessor)
    problems.push('PI_RECEIPTS is "http"; it needs PI_PROCESSOR_SECRETS, which authenticate the answers.')
  if (url === undefined)
    problems.push('PI_RECEIPTS_URL is not set; PI_RECEIPTS=http needs the address of the receipts.')
  else if (!isReceiptsUrl(url, environment))
    problems.push(
      'PI_RECEIPTS_URL is not usable; expected https:// without query or fragment (http:// only in development).',
    )
  return { kind, url: url ?? '' }
}

function isReceiptsUrl(text: string, environment: Config['environment']): boolean {
  const url = parseUrl(text)
  if (url === null) return false
  const { protocol, search, hash } = url
  const isScheme = protocol === 'https:' || (protocol === 'http:' && environment === 'development')
  return isScheme && search === '' && hash === ''
}

function unknownVariables(env: Environment): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('PI_') && env[name] !== undefined && !names.has(name) && chainIdOf(name) === null)
    .sort()
    .map((name) => `${name} is not a known variable; check its spelling or remove it.`)
}
