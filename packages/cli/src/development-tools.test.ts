/** The console's tools in a server in development: real HTTP, a real receiver, simulated chains. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type RunningServer, readConfig, startServer } from '@payment-integration/server/service'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRecordingReceiver } from '../../server/test/support/recording-receiver.js'
import { testMasterKey } from '../test/master-key.js'
import { developmentTools, simulateChainsWith } from './development.js'

const integration = `0x${'a1'.repeat(20)}`
const folder = mkdtempSync(join(tmpdir(), 'payment-integration-tools-'))
let receiver: Awaited<ReturnType<typeof startRecordingReceiver>>
let server: RunningServer

beforeAll(async () => {
  receiver = await startRecordingReceiver()
  const config = readConfig({
    PI_ENV: 'development',
    PI_PORT: '0',
    PI_CONSOLE: 'on',
    PI_LOG_LEVEL: 'silent',
    PI_SIMULATED_CHAINS: '137',
    ...{ PI_DATABASE_URL: `sqlite:${join(folder, 'service.db')}`, PI_MASTER_KEY: testMasterKey },
  })
  const simulateChains = simulateChainsWith({ randomBytes: (length) => new Uint8Array(length).fill(7) }, undefined)
  server = await startServer(config, { simulateChains, tools: developmentTools })
  await server.service.integrations.create({ address: integration, notificationUrl: `${receiver.url}/hook` })
})
afterAll(async () => {
  await server?.stop()
  await receiver?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const page = async (path: string) => (await fetch(`${server.url}${path}`)).text()

/** Posts a form of the page of tools; resolves the page that it leads to. */
async function act(name: string, fields: Record<string, string>): Promise<Response> {
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await page('/console/tools')) ?? []
  const body = new URLSearchParams({ csrf, integration, ...fields })
  const Origin = server.url
  return fetch(`${server.url}/console/act/${name}`, { method: 'POST', body, headers: { Origin } })
}

async function ended({ url }: Response): Promise<string> {
  for (;;) {
    const html = await (await fetch(url)).text()
    if (!html.includes('<progress')) return html
    await setImmediate()
  }
}

it('a test payment is indexed, delivered and delivered again, and each step is a row', async () => {
  const html = await ended(await act('trigger', { scenario: 'duplicate', amount: '12.50', chain: '137' }))
  const answered = 'was answered 204; a correct receiver: duplicate'
  for (const row of ['Block 1 of chain 137: 1 payment', answered, '1 payment, 1 snapshot']) expect(html).toContain(row)
  expect(receiver.arrived.length).toBeGreaterThan(0)
  expect((await page('/console/payments')).replaceAll(/<[^>]*>/g, '')).toContain('12.5 USDC')
})

it('a delivery that the receiver got verifies with the secret that stays in the server', async () => {
  const [delivery] = receiver.arrived
  const headers = Object.entries(delivery?.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  const at = new Date().toISOString().slice(0, 19)
  const html = await (await act('explain', { headers: headers.join('\n'), body: String(delivery?.body), at })).text()
  expect(html).toContain('A receiver accepts this delivery.')
  const unreadable = await (await act('explain', { headers: '{"a":', body: '', at })).text()
  expect(unreadable).toContain('role="alert"')
})

it('the doctor finds that the receiver accepts forged deliveries, and says what to change', async () => {
  const html = await ended(await act('doctor', {}))
  expect(html).toMatch(/probes passed, \d+ failed/)
  expect(html).toContain('cause')
  expect(html).toContain('forged')
})

it('a scenario that the server rejects says why', async () => {
  const answer = await act('trigger', { scenario: 'success', amount: 'much' })
  expect([answer.status, (await answer.text()).includes('amount is malformed')]).toEqual([400, true])
})
