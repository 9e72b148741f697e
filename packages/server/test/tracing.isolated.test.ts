/** One trace per payment, from its block to its receiver. The SDK is registered as an operator does. */
import { trace } from '@opentelemetry/api'
import { triggerPath } from '@payment-integration/contract/internal'
import { createSimulatedChains } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { computeTraceIds } from '../src/tracing/payment-trace.js'
import { basic } from './support/integration-service.js'
import { recordSpans } from './support/recorded-spans.js'
import { startRecordingReceiver } from './support/recording-receiver.js'
import { eventually } from './support/tcp-server.js'
import { startTempServer } from './support/temp-server.js'

const shop = `0x${'a1'.repeat(20)}`
const { provider, spans } = recordSpans()
beforeAll(() => {
  trace.setGlobalTracerProvider(provider)
})
afterAll(() => trace.disable())

/** Runs the scenario `success` of a server; resolves what the receiver got. */
async function deliver(env: Record<string, string>) {
  const receiver = await startRecordingReceiver()
  onTestFinished(receiver.stop)
  const server = await startTempServer(
    { PI_SIMULATED_CHAINS: '137', ...env },
    { simulateChains: (world) => createSimulatedChains({ ...world, seed: 7 }) },
  )
  const { apiSecret } = await server.service.integrations.create({ address: shop, notificationUrl: `${receiver.url}/` })
  const answer = await fetch(`${server.url}${triggerPath}`, {
    method: 'POST',
    headers: { authorization: basic(shop, apiSecret), 'content-type': 'application/json' },
    body: '{"scenario":"success"}',
  })
  expect(await answer.text()).toContain('"event":"done"')
  await eventually(() => receiver.arrived.length === 3)
  // The stop waits until the attempts are settled, and so until their events are published.
  await server.stop()
  return receiver.arrived
}

it('block, updates and deliveries of a payment are one trace, which every delivery names', async () => {
  const arrived = await deliver({ PI_TRACING: 'on' })
  const snapshot = JSON.parse(String(arrived[0]?.body)) as { chainId: string; txHash: string }
  const payment = { chainId: Number(snapshot.chainId), txHash: snapshot.txHash, integrationAddress: shop }
  const { traceId, parentId } = computeTraceIds(payment)
  const all = spans()
  expect(new Set(all.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
  expect(new Set(all.map((span) => span.parentSpanContext?.spanId))).toEqual(new Set([parentId]))
  const count = (name: string) => all.filter((span) => span.name === name).length
  const names = ['payment.index', 'payment.update', 'payment.change', 'notification.attempt', 'notification.publish']
  expect(names.map(count)).toEqual([1, 2, 2, 3, 3])
  const attempts = all.filter((span) => span.name === 'notification.attempt').map((span) => span.spanContext().spanId)
  const sent = attempts.map((spanId) => `00-${traceId}-${spanId}-01`)
  expect(arrived.map(({ headers }) => headers['traceparent'])).toEqual(sent)
  const index = all.find((span) => span.name === 'payment.index')
  const began = (index?.startTime[0] ?? 0) * 1_000 + (index?.startTime[1] ?? 0) / 1e6
  expect(began).toBeGreaterThan(Date.UTC(2020, 0, 1))
  expect(JSON.stringify(all.map(({ attributes }) => attributes))).not.toContain('http://')
})

it('without PI_TRACING no span is made and no delivery has the header', async () => {
  const before = spans().length
  const arrived = await deliver({})
  expect(arrived.map(({ headers }) => headers['traceparent'])).toEqual([undefined, undefined, undefined])
  expect(spans()).toHaveLength(before)
})
