import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBuilders, createDeliveries, type SignedDelivery } from '@payment-integration/testing'
import { runDoctor } from '@payment-integration/testing/doctor'
import { NextRequest } from 'next/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { POST } from '../app/webhook/route'
import { openShop, shop } from '../lib/shop'
import page from '../pages/api/webhook'

const secret = 'whsec_of_the_next_app'
const deliveries = createDeliveries({ secret })
const build = createBuilders({ seed: 3 })
const folder = mkdtempSync(join(tmpdir(), 'next-app-'))
const server = createServer((request, response) => void page(request, response))
beforeAll(async () => {
  process.env['DATABASE'] = join(folder, 'shop.db')
  process.env['WEBHOOK_SIGNING_SECRET'] = secret
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  shop().close()
  rmSync(folder, { recursive: true })
})

const toApp = (delivery: SignedDelivery) =>
  POST(new NextRequest('http://shop.test/webhook', { method: 'POST', ...delivery })) as Promise<Response>
const getUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/webhook`
const toPages = (delivery: SignedDelivery) => fetch(getUrl(), { method: 'POST', ...delivery })

describe.each([
  ['the app router', toApp],
  ['the pages router', toPages],
])('a route of %s', (_, post) => {
  test('handles each version once, and rejects a delivery that the service did not sign', async () => {
    const pending = build.snapshot({ version: 1, state: 'pending' })
    const success = { ...pending, version: 2, state: 'success' as const }
    const good = await deliveries.good(pending)
    const { duplicate, forged } = deliveries
    const statuses: number[] = []
    for (const delivery of [good, await deliveries.good(success), await duplicate(good), await forged(success)])
      statuses.push((await post(delivery)).status)
    expect(statuses).toEqual([204, 204, 204, 401])
    expect(shop().states(pending.txHash)).toEqual(['pending', 'success'])
  })
})

const doctored = { signingSecret: secret, integrationAddress: `0x${'ab'.repeat(20)}`, timeoutMs: 120_000 }

test('the route of the app router passes the doctor', async () => {
  const fetchRoute = (_url: string, { headers, body }: SignedDelivery) => toApp({ headers, body })
  const report = await runDoctor({ ...doctored, url: 'https://shop.test/webhook', seed: 1, fetch: fetchRoute })
  expect(report.findings).toEqual([])
})

test('the route of the pages router passes the doctor', async () => {
  const report = await runDoctor({ ...doctored, url: getUrl(), seed: 2 })
  expect([report.findings, report.notRun]).toEqual([[], 0])
})

test('a shop without a secret opens no database', () => {
  const path = join(folder, 'without-secret.db')
  expect(() => openShop({ path, secret: '' })).toThrow(TypeError)
  expect(existsSync(path)).toBe(false)
})
