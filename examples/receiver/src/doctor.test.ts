import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { runDoctor } from '@payment-integration/testing/doctor'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createReceiverServer } from './receiver.js'

test('the receiver passes the doctor, and handles each version once', async () => {
  const signingSecret = 'whsec_of_the_receiver'
  let handled = 0
  // The receiver prints each rejection.
  const silenced = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const database = new DatabaseSync(':memory:')
  const server = createReceiverServer({ secrets: signingSecret, database, handle: () => void handled++ })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    database.close()
    silenced.mockRestore()
  })
  const report = await runDoctor({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    signingSecret,
    integrationAddress: `0x${'ab'.repeat(20)}`,
    effects: async () => handled,
    timeoutMs: 120_000,
  })
  expect(report.findings).toEqual([])
  expect(report.notRun).toBe(0)
})
