import type { ServiceEvent } from '@payment-integration/core'
import { expect, it, onTestFinished } from 'vitest'
import { facts, indexPayments } from '../../test/support/index-payments.js'
import { basic } from '../../test/support/integration-service.js'
import { startRecordingReceiver } from '../../test/support/recording-receiver.js'
import { eventually } from '../../test/support/tcp-server.js'
import { getTempConfig, startTempServer } from '../../test/support/temp-server.js'
import { startServer } from './start-server.js'

const address = `0x${'aa'.repeat(20)}`

it('two processes share the work by their roles, and are listed with them', async () => {
  const receiver = await startRecordingReceiver()
  onTestFinished(receiver.stop)
  const config = await getTempConfig({ PI_ADMIN_PORT: '0' })
  const events: ServiceEvent['type'][] = []
  const onEvent = ({ type }: ServiceEvent) => void events.push(type)
  const none = { api: false, console: false, dispatcher: false, poller: false, indexer: [] }
  const api = await startServer({ ...config, roles: { ...none, api: true } }, { onEvent })
  onTestFinished(() => api.stop())
  const { apiSecret } = await api.service.integrations.create({ address, notificationUrl: `${receiver.url}/hook` })
  await indexPayments(api.service.store, [facts({ integrationAddress: address })])
  const headers = { authorization: basic(address, apiSecret) }
  const answer = await fetch(`${api.url}/api/v1/integration/payments`, { headers })
  expect([answer.status, receiver.arrived, events]).toEqual([200, [], []])

  const worker = await startServer({ ...config, roles: { ...config.roles, api: false, console: false } }, { onEvent })
  expect(worker.url).toBe('')
  await eventually(() => receiver.arrived.length === 1 && events.includes('delivery.attempted'))
  const ready = await fetch(`${worker.adminUrl}/ready`)
  expect(await ready.json()).toEqual({ status: 'ready', reason: null, roles: { dispatcher: 'runs', poller: 'runs' } })
  await eventually(async () => (await api.service.processes.list()).length === 2)
  expect(await api.service.processes.list()).toMatchObject([
    { roles: ['api'], pid: process.pid, silentMs: null },
    { roles: ['dispatcher', 'poller'] },
  ])
  await worker.stop()
  expect((await api.service.processes.list()).map((each) => each.roles)).toEqual([['api']])
})

it('a process without api has the pages alone', async () => {
  const { url } = await startTempServer({ PI_CONSOLE: 'on', PI_ROLES: 'console' })
  const paths = ['/console', '/health', '/openapi.json', '/api/v1/integration/payments']
  const statuses = paths.map(async (path) => (await fetch(`${url}${path}`)).status)
  expect(await Promise.all(statuses)).toEqual([200, 200, 404, 401])
})
