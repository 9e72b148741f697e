/** Reads `PI_ROLES`: the part of the service that a process runs. Source: docs/roles.md. @module */
import type { RolesConfig } from './config.js'
import { show, type Variables } from './variables.js'

const names = ['api', 'console', 'dispatcher', 'poller', 'indexer'] as const
const expected = `expected some of ${names.join(', ')} and indexer:<chain id>, separated by commas`

/**
 * Reads `PI_ROLES`; without it a process has all roles.
 * @param parts - Configured chains, and whether any page is configured.
 */
export function readRoles(
  { text, problems }: Variables,
  parts: {
    readonly chainIds: readonly number[]
    readonly simulatedChainIds: readonly number[]
    readonly hasPages: boolean
  },
): RolesConfig {
  const value = text('PI_ROLES')
  if (value === undefined) return { api: true, console: parts.hasPages, dispatcher: true, poller: true, indexer: 'all' }
  const roles = value.split(',').map((role) => role.trim())
  const chainIds = roles.flatMap((role) => /^indexer:([1-9]\d{0,14})$/.exec(role)?.[1] ?? []).map(Number)
  const has = (name: (typeof names)[number]) => roles.includes(name)
  if (!roles.every((role) => names.some((name) => name === role) || /^indexer:[1-9]\d{0,14}$/.test(role)))
    problems.push(`PI_ROLES is ${show(value)}; ${expected}.`)
  if (new Set(roles).size < roles.length) problems.push(`PI_ROLES is ${show(value)}, which repeats a role.`)
  if (has('indexer') && chainIds.length > 0)
    problems.push(`PI_ROLES is ${show(value)}; indexer stands for all chains, so leave out either.`)
  for (const chainId of chainIds)
    if (!parts.chainIds.includes(chainId))
      problems.push(`PI_ROLES has indexer:${chainId}; it needs PI_RPC_URL_${chainId}.`)
  for (const chainId of parts.simulatedChainIds)
    if (has('api') && !has('indexer') && !chainIds.includes(chainId))
      problems.push(`PI_ROLES has api without indexer:${chainId}; a simulated chain is in one process.`)
  if (has('console') && !parts.hasPages) problems.push('PI_ROLES has console; it needs PI_CONSOLE=on or PI_PORTAL=on.')
  return {
    api: has('api'),
    console: has('console'),
    dispatcher: has('dispatcher'),
    poller: has('poller'),
    indexer: has('indexer') ? 'all' : chainIds,
  }
}

/** The names of roles, with a name for each chain to index. */
export function roleNames(roles: RolesConfig, chainIds: readonly number[]): string[] {
  const { indexer } = roles
  const indexed = chainIds.filter((chainId) => indexer === 'all' || indexer.includes(chainId))
  return [
    ...(['api', 'console', 'dispatcher', 'poller'] as const).filter((name) => roles[name]),
    ...indexed.map((chainId) => `indexer:${chainId}`),
  ]
}
