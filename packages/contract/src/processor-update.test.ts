import { describe, expect, it } from 'vitest'
import { processorUpdateSchema } from './processor-updates.js'

const update = { id: 'evt_1', chainId: '137', txHash: `0x${'a'.repeat(64)}` }

describe('the processor update', () => {
  it('distinguishes an absent field from null', () => {
    expect(processorUpdateSchema.parse({ ...update, state: null })).toEqual({ ...update, state: null })
    expect('state' in processorUpdateSchema.parse(update)).toBe(false)
  })

  it.each([
    ['a misspelled field', { stat: 'success' }],
    ['a partial invoice', { invoice: { amount: '1', currency: 'EUR' } }],
    ['an unknown field in recipient', { recipient: { title: 'A', subtitle: null, x: 1 } }],
    ['an unknown state', { state: 'paid' }],
    ['an id with a space', { id: 'a b' }],
    ['an empty id', { id: '' }],
    ['an id of 129 characters', { id: 'x'.repeat(129) }],
    ['a chain id with a sign', { chainId: '+1' }],
    ['a short hash', { txHash: '0xab' }],
    ['a number as amount', { invoice: { amount: 1, currency: 'A', settlementAmount: '1', settlementCurrency: 'B' } }],
  ])('rejects %s', (_what, change) =>
    expect(processorUpdateSchema.safeParse({ ...update, ...change }).success).toBe(false),
  )
})
