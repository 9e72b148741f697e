import type { ServiceEvent } from '@payment-integration/core'
import { expect, it } from 'vitest'
import { createEventLog } from './event-log.js'
import { createPinoLogger } from './pino-logger.js'

const integrationAddress = `0x${'cd'.repeat(20)}`
const txHash = `0x${'12'.repeat(32)}`
const payment = { chainId: 137, txHash, integrationAddress, version: 2, deliveryId: '7' }

/** The lines that an event leaves, through the real logger and its list of fields. */
function linesOf(event: ServiceEvent) {
  const lines: string[] = []
  const logger = createPinoLogger({ level: 'debug', destination: { write: (line: string) => lines.push(line) } })
  createEventLog(logger)(event)
  return lines.map((line) => {
    const { time: _, ...fields } = JSON.parse(line) as Record<string, unknown>
    return fields
  })
}

const [info, warn] = [30, 40]

it.each([
  [
    { type: 'endpoint.failing', integrationAddress, failingMs: 61_000 },
    { level: warn, eventType: 'endpoint.failing', integrationAddress, failingMs: 61_000 },
  ],
  [
    { type: 'endpoint.recovered', integrationAddress, failingMs: 61_000 },
    { level: info, eventType: 'endpoint.recovered', integrationAddress, failingMs: 61_000 },
  ],
  [
    { type: 'delivery.exhausted', reason: 'status_410', ...payment },
    { level: warn, eventType: 'delivery.exhausted', reason: 'status_410', ...payment },
  ],
] as const satisfies readonly (readonly [ServiceEvent, object])[])('%j is one line', (event, fields) => {
  expect(linesOf(event)).toEqual([{ ...fields, msg: expect.stringMatching(/[a-z].*[.]$/) }])
})

it('says nothing of what happens all the time', () => {
  expect(linesOf({ type: 'payment.indexed', blockNumber: 1, chainId: 1, txHash, integrationAddress })).toEqual([])
  expect(linesOf({ type: 'chain.indexed', chainId: 1, blockNumber: 1, head: 1 })).toEqual([])
})
