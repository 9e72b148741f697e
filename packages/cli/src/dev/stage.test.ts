import { expect, it } from 'vitest'
import type { DemoEvent } from './demo-events.js'
import { createEventOrder } from './printer.js'

const ofPayment = { chainId: '1', txHash: '0xa' }
const sent: DemoEvent = { ...ofPayment, event: 'payment.sent', number: 1, price: '1 EUR', paid: '1.08 USDC', memo: 'm' }
const indexed: DemoEvent = { ...ofPayment, event: 'payment.indexed', blockNumber: 1 }
const problem: DemoEvent = { event: 'problem', reason: 'no' }

function recorded() {
  const printed: [string, number][] = []
  let time = 0
  const stage = createEventOrder(
    (event, at) => printed.push([event.event, at]),
    () => (time += 1),
  )
  return { printed, stage }
}

it('prints a payment before its events, even when they came first', async () => {
  const { printed, stage } = recorded()
  await stage.first(
    async () => stage.report(indexed),
    () => sent,
  )
  stage.report(problem)
  expect(printed.map(([name]) => name)).toEqual(['payment.sent', 'payment.indexed', 'problem'])
  const times = printed.map(([, at]) => at)
  expect(times).toEqual([...times].sort((a, b) => a - b))
})

it('prints delayed events when the payment could not be made', async () => {
  const { printed, stage } = recorded()
  const failing = stage.first(
    async () => {
      stage.report(problem)
      throw new Error('no gas')
    },
    () => sent,
  )
  await expect(failing).rejects.toThrow('no gas')
  expect(printed.map(([name]) => name)).toEqual(['problem'])
})
