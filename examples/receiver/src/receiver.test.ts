import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { runDoctor } from '@payment-integration/testing/doctor'
import type { Snapshot } from '@payment-integration/webhook'
import { createTestDelivery, createTestSnapshot, type TestDeliveryOptions } from '@payment-integration/webhook/testing'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { listenLocally } from '../../../packages/cli/test/serve-http.js'
import { type Ledger, openLedger } from './ledger.js'
import { createReceiverServer } from './receiver.js'

const secret = 'whsec_current'
const first = createTestSnapshot({ version: 1, state: 'pending' })
const second = createTestSnapshot({ version: 2, state: 'success' })
const { txHash } = first

let folder: string
let database: DatabaseSyncInstance
let ledger: Ledger
let server: Server
let url: string
let handle: (snapshot: Snapshot) => void

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'receiver-'))
  database = new DatabaseSync(join(folder, 'receiver.db'))
  ledger = openLedger(database)
  handle = ledger.write
  server = createReceiverServer({ secrets: secret, database, handle: (snapshot) => handle(snapshot) })
  url = `${await listenLocally(server)}/webhook`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
  database.close()
  await rm(folder, { recursive: true, force: true })
})

/** Posts a delivery over HTTP and resolves the status. */
async function post(options: Partial<TestDeliveryOptions>): Promise<number> {
  const delivery = await createTestDelivery({ secret, ...options })
  return (await fetch(url, { method: 'POST', ...delivery })).status
}

test('a delivery that arrives twice is handled once, and both are answered with success', async () => {
  expect(await post({ snapshot: first })).toBe(204)
  expect(await post({ snapshot: first })).toBe(204)
  expect(ledger.rows()).toEqual([{ tx_hash: txHash, version: 1, state: 'pending' }])
})

test('a superseded version is dropped', async () => {
  expect(await post({ snapshot: second })).toBe(204)
  expect(await post({ snapshot: first })).toBe(204)
  expect(ledger.rows()).toEqual([{ tx_hash: txHash, version: 2, state: 'success' }])
})

test('a failing handler gives 500, and the retried delivery is handled', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  handle = (snapshot) => {
    ledger.write(snapshot)
    throw new Error('the warehouse is closed')
  }
  expect(await post({ snapshot: first })).toBe(500)
  expect(ledger.rows()).toEqual([])
  expect(logged).toHaveBeenCalledOnce()
  logged.mockRestore()
  handle = ledger.write
  expect(await post({ snapshot: first })).toBe(204)
  expect(ledger.rows()).toHaveLength(1)
})

test('the receiver passes the doctor, and handles each version once', async () => {
  // The receiver prints each rejection.
  const silenced = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => silenced.mockRestore())
  let handled = 0
  handle = () => void handled++
  const integrationAddress = `0x${'ab'.repeat(20)}`
  const effects = async () => handled
  const report = await runDoctor({ url, signingSecret: secret, integrationAddress, effects, timeoutMs: 120_000 })
  expect([report.findings, report.notRun]).toEqual([[], 0])
})

test('an overlarge body is rejected with 413, another path or method with 404', async () => {
  const { headers } = await createTestDelivery({ secret })
  const large = new Uint8Array(300_000)
  expect((await fetch(url, { method: 'POST', headers, body: large })).status).toBe(413)
  expect((await fetch(`${url}/other`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(url)).status).toBe(404)
})

test('an unfinished request is closed soon after the request timeout', async () => {
  const slow = createReceiverServer({ secrets: secret, database, handle: ledger.write, requestTimeoutMs: 100 })
  const { port } = new URL(await listenLocally(slow))
  onTestFinished(() => void slow.close())
  const socket = connect(Number(port), '127.0.0.1')
  const answers = text(socket)
  socket.write('POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc')
  expect(await answers).toMatch(/^HTTP\/1.1 408 /)
})
