import { expect, it } from 'vitest'
import { chainStatus } from '../../test/support/chain-status.js'
import { createAdminApp } from './admin-app.js'
import type { HealthReport } from './health.js'

function setUp(health: Partial<HealthReport> = {}) {
  let stopping = false
  const indexer = (chainId: number, status: Parameters<typeof chainStatus>[0]) => ({
    chainId,
    status: () => chainStatus({ chainId, ...status }),
  })
  const app = createAdminApp({
    roles: ['api', 'poller', 'indexer:1', 'indexer:10', 'indexer:137'],
    health: async () => ({ status: 'ok', database: 'ok', chains: [], ...health }),
    indexers: [
      indexer(1, { leading: true, error: null }),
      indexer(10, { leading: false, error: null }),
      indexer(137, { leading: true, error: 'no node answers' }),
    ],
    isStopping: () => stopping,
    metrics: { text: async () => 'up 1\n', contentType: 'text/plain' },
    metricsToken: null,
  })
  const ask = async (path: string) => {
    const answer = await app.request(path)
    const text = await answer.text()
    return { status: answer.status, body: path === '/metrics' ? text : JSON.parse(text) }
  }
  const getStatus = async (path: string) => (await ask(path)).status
  return { ask, getStatus, stop: () => (stopping = true) }
}

const roles = { api: 'serves', poller: 'runs', 'indexer:1': 'leads', 'indexer:10': 'stands by', 'indexer:137': 'fails' }

it('a process is ready with the state of each role, also while a chain cannot be read', async () => {
  const { ask, getStatus } = setUp()
  expect(await ask('/ready')).toEqual({ status: 200, body: { status: 'ready', reason: null, roles } })
  const paths = ['/ready/api', '/ready/poller', '/ready/indexer:10', '/ready/indexer:137', '/ready/console']
  expect(await Promise.all(paths.map(getStatus))).toEqual([200, 200, 200, 503, 404])
})

it('from the beginning of a shutdown a process is live and not ready, at once', async () => {
  const { ask, getStatus, stop } = setUp()
  expect(await getStatus('/ready')).toBe(200)
  stop()
  expect(await ask('/ready')).toEqual({ status: 503, body: { status: 'not ready', reason: 'shutdown', roles } })
  expect(await Promise.all(['/ready/api', '/live', '/health'].map(getStatus))).toEqual([503, 200, 200])
})

it.each([
  ['database unavailable', { status: 'down', database: 'unavailable' }],
  ['loops stopped', { status: 'down' }],
] as const)('%s is a reason not to be ready', async (reason, health) => {
  const { ask, getStatus } = setUp(health)
  expect(await ask('/ready')).toMatchObject({ status: 503, body: { reason } })
  expect(await Promise.all(['/ready/poller', '/health', '/live'].map(getStatus))).toEqual([503, 503, 200])
})

it('serves the metrics, and neither the document nor the API', async () => {
  const { ask, getStatus } = setUp()
  expect(await ask('/metrics')).toEqual({ status: 200, body: 'up 1\n' })
  const paths = ['/openapi.json', '/', '/api/v1/integration/payments']
  expect(await Promise.all(paths.map(getStatus))).toEqual([404, 404, 404])
})
