import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { readConfig } from './read-config.js'
import { roleNames } from './role-variables.js'

const minimal = {
  PI_MASTER_KEY: randomBytes(32).toString('hex'),
  PI_RPC_URL_137: 'http://127.0.0.1:8545',
  PI_RPC_URL_10: 'http://127.0.0.1:8546',
}

function rolesOf(PI_ROLES?: string, more: Record<string, string> = {}) {
  const config = readConfig({ ...minimal, PI_ROLES, ...more })
  return roleNames(
    config.roles,
    config.chains.map(({ chainId }) => chainId),
  )
}

const problemsOf = (PI_ROLES: string, more: Record<string, string> = {}) => problemsIn(() => rolesOf(PI_ROLES, more))

it('without PI_ROLES a process has all roles, on every chain; console only where pages are configured', () => {
  expect(rolesOf().sort()).toEqual(['api', 'dispatcher', 'indexer:10', 'indexer:137', 'poller'])
  expect(rolesOf(undefined, { PI_CONSOLE: 'on', PI_CONSOLE_URL: 'https://console.example' })).toContain('console')
})

it.each([
  ['api', ['api']],
  ['dispatcher, poller', ['dispatcher', 'poller']],
  ['indexer:137', ['indexer:137']],
  ['indexer', ['indexer:10', 'indexer:137']],
  ['api,indexer:10', ['api', 'indexer:10']],
])('PI_ROLES=%s is these roles alone', (value, roles) => expect(rolesOf(value).sort()).toEqual(roles))

it('the role console needs pages', () => {
  const pages = { PI_CONSOLE: 'on', PI_CONSOLE_URL: 'https://console.example' }
  expect(rolesOf('console', pages)).toEqual(['console'])
  expect(problemsOf('console')).toEqual(['PI_ROLES has console; it needs PI_CONSOLE=on or PI_PORTAL=on.'])
})

it('api and the indexer of a simulated chain are one process', () => {
  const simulated = { PI_ENV: 'development', PI_SIMULATED_CHAINS: '1' }
  expect(problemsOf('api', simulated)).toEqual([
    'PI_ROLES has api without indexer:1; a simulated chain is in one process.',
  ])
  for (const roles of ['api,indexer', 'api,indexer:1', 'dispatcher']) expect(problemsOf(roles, simulated)).toEqual([])
})

it('a metrics token needs a port that is open', () => {
  const token = { PI_METRICS_TOKEN: 'a-token-of-the-metrics' }
  expect(problemsOf('dispatcher', token)).toEqual([
    'PI_METRICS_TOKEN is set, and PI_ROLES serve no requests; metrics need PI_ADMIN_PORT then.',
  ])
  for (const roles of ['api', 'api,dispatcher']) expect(problemsOf(roles, token)).toEqual([])
  expect(problemsOf('dispatcher', { ...token, PI_ADMIN_PORT: '9464' })).toEqual([])
})

it.each([
  ['web', 'PI_ROLES is "web"; expected some of api, console, dispatcher, poller, indexer and indexer:<chain id>'],
  ['api,', 'PI_ROLES is "api,"; expected some of api'],
  ['indexer:0', 'PI_ROLES is "indexer:0"; expected some of api'],
  ['api,api', 'PI_ROLES is "api,api", which repeats a role.'],
  ['indexer,indexer:10', 'PI_ROLES is "indexer,indexer:10"; indexer stands for all chains, so leave out either.'],
  ['indexer:1', 'PI_ROLES has indexer:1; it needs PI_RPC_URL_1.'],
])('PI_ROLES=%s is refused with the reason', (value, problem) => {
  expect(problemsOf(value)).toEqual([expect.stringContaining(problem)])
})
