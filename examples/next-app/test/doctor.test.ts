import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runDoctor } from '@payment-integration/testing/doctor'
import { NextRequest } from 'next/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { POST } from '../app/webhook/route'
import { shop } from '../lib/shop'
import page from '../pages/api/webhook'

const signingSecret = 'whsec_of_the_next_app'
const folder = mkdtempSync(join(tmpdir(), 'next-doctor-'))
const server = createServer((request, response) => void page(request, response))
beforeAll(async () => {
  process.env['DATABASE'] = join(folder, 'shop.db')
  process.env['WEBHOOK_SIGNING_SECRET'] = signingSecret
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  shop().close()
  rmSync(folder, { recursive: true })
})

const options = { signingSecret, integrationAddress: `0x${'ab'.repeat(20)}`, timeoutMs: 120_000 }

test('the route of the app router passes the doctor', async () => {
  const report = await runDoctor({
    ...options,
    url: 'https://shop.test/webhook',
    seed: 1,
    fetch: (url, { method, headers, body }) =>
      POST(new NextRequest(url, { method, headers, body })) as Promise<Response>,
  })
  expect(report.findings).toEqual([])
})

test('the route of the pages router passes the doctor', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/webhook`
  const report = await runDoctor({ ...options, url, seed: 2 })
  expect(report.findings).toEqual([])
  expect(report.notRun).toBe(0)
})
