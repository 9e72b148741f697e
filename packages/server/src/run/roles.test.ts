import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServiceEvent } from '@payment-integration/core'
import { expect, it, onTestFinished } from 'vitest'
import { facts, indexPayments } from '../../test/support/index-payments.js'
import { basic } from '../../test/support/integration-service.js'
import { eventually } from '../../test/support/tcp-server.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { startServer } from './start-server.js'

const address = `0x${'aa'.repeat(20)}`

it('two processes share the work by their roles, and are listed with them', async () => {
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(request.url ?? '')
    request.resume().on('end', () => response.end())
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const made = await tempConfig()
  const { roles } = made.config
  const events: ServiceEvent['type'][] = []
  const none = { api: false, console: false, dispatcher: false, poller: false, indexer: [] }
  const api = await startServer(
    { ...made.config, roles: { ...none, api: true } },
    { onEvent: ({ type }) => events.push(type) },
  )
  onTestFinished(async () => {
    await api.stop()
    receiver.close()
    await made.remove()
  })
  const notificationUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const { apiSecret } = await api.service.integrations.create({ address, notificationUrl })
  await indexPayments(api.service.store, [facts({ integrationAddress: address })])
  const headers = { authorization: basic(address, apiSecret) }
  const answer = await fetch(`${api.url}/api/v1/integration/payments`, { headers })
  expect([answer.status, received, events]).toEqual([200, [], []])

  const admin = { listen: { host: '127.0.0.1', port: 0 }, metricsToken: null }
  const worker = await startServer({ ...made.config, admin, roles: { ...roles, api: false, console: false } })
  expect(worker.url).toBe('')
  await eventually(() => received.length === 1)
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
  const made = await tempConfig({ PI_CONSOLE: 'on' })
  const roles = { api: false, console: true, dispatcher: false, poller: false, indexer: [] }
  const server = await startServer({ ...made.config, roles })
  const paths = ['/console', '/health', '/openapi.json', '/api/v1/integration/payments']
  const statuses = paths.map(async (path) => (await fetch(`${server.url}${path}`)).status)
  expect(await Promise.all(statuses)).toEqual([200, 200, 404, 401])
  await server.stop()
  await made.remove()
})
