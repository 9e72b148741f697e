import type { ServiceEvent } from '@payment-integration/core'
import { expect, it } from 'vitest'
import { createEventLog, createPinoLogger } from './log.js'

const integrationAddress = `0x${'cd'.repeat(20)}`
const txHash = `0x${'12'.repeat(32)}`
const payment = { chainId: 137, txHash, integrationAddress, version: 2, deliveryId: '7' }

/** The log lines of an event, through the real logger and its list of fields. */
async function getLines(event: ServiceEvent) {
  const lines: string[] = []
  const logger = await createPinoLogger({ level: 'debug', destination: { write: (line: string) => lines.push(line) } })
  createEventLog(logger)(event)
  return lines.map((line) => {
    const { time: _, ...fields } = JSON.parse(line) as Record<string, unknown>
    return fields
  })
}

const [info, warn] = [30, 40]

it.each([
  [
    { type: 'endpoint.failing', integrationAddress, failures: 5, blockedUntil: 5_000, failingMs: 61_000 },
    { level: warn, eventType: 'endpoint.failing', integrationAddress, failingMs: 61_000 },
  ],
  [
    { type: 'endpoint.recovered', integrationAddress, failingMs: 61_000 },
    { level: info, eventType: 'endpoint.recovered', integrationAddress, failingMs: 61_000 },
  ],
  [
    { type: 'payment.additional', ordinal: 1, blockNumber: 7, chainId: 137, txHash, integrationAddress },
    { level: warn, eventType: 'payment.additional', integrationAddress, chainId: 137, txHash, ordinal: 1 },
  ],
  [
    { type: 'delivery.exhausted', reason: 'status_410', ...payment },
    { level: warn, eventType: 'delivery.exhausted', reason: 'status_410', ...payment },
  ],
  [
    { type: 'audit.head', seq: 12, at: 1, hash: 'ab'.repeat(32) },
    { level: info, eventType: 'audit.head', seq: 12, hash: 'ab'.repeat(32) },
  ],
] as const satisfies readonly (readonly [ServiceEvent, object])[])('%j is one line', async (event, fields) => {
  expect(await getLines(event)).toEqual([{ ...fields, msg: expect.stringMatching(/[a-z].*[.]$/) }])
})

it('does not log frequent events', async () => {
  expect(
    await getLines({
      type: 'payment.indexed',
      blockNumber: 1,
      blockTimestamp: 0,
      chainId: 1,
      txHash,
      integrationAddress,
    }),
  ).toEqual([])
  const nobodys = { chainId: 1, txHash, integrationAddress: null }
  expect(await getLines({ type: 'payment.additional', ordinal: 1, blockNumber: 1, ...nobodys })).toEqual([])
  expect(await getLines({ type: 'chain.indexed', chainId: 1, blockNumber: 1, head: 1 })).toEqual([])
})
