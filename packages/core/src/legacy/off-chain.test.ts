import { describe, expect, it } from 'vitest'
import { amount, paid, setup, txHash } from '../../test/support/legacy-setup.js'
import type { StoredPayment } from '../payments/payment.js'

const left = paid({ offChain: true })
const missing = { code: 'ERR_TRANSACTION_NOT_FOUND' }
const never = { confirmations: { 137: null } }
/** The payment is in block 100, which is final at 150. The first stands for a head that stalls after it went back. */
const heights = [99, 100, 149]

const query = { chainId: '137', txHash }
const lookup = async (payments: readonly StoredPayment[], indexedTo: number, options = {}) =>
  (await setup(payments, [], indexedTo, options).queries.lookup(query)).payments

describe('a payment that is known to be off the chain', () => {
  it.each(heights)('is shown as not final while the chain is indexed up to %d', async (indexedTo) => {
    expect(await lookup([left], indexedTo)).toMatchObject([{ final: false }])
  })

  it('is shown no more once its height is final', async () => {
    await expect(lookup([left], 150)).rejects.toMatchObject(missing)
    expect(await lookup([left, paid({ ordinal: 1 })], 150)).toMatchObject([{ final: true }])
  })

  it.each(heights)(
    'is not shown again once it was dropped, where the chain is indexed up to %d only',
    async (indexedTo) => {
      const dropped = { ...left, state: 'failure', dropped: { formerState: null } } as const
      await expect(lookup([dropped], indexedTo)).rejects.toMatchObject(missing)
      expect(await lookup([{ ...dropped, offChain: false, dropped: null }], indexedTo)).toHaveLength(1)
    },
  )

  it.each([...heights, 1_000_000])('is not shown at all where nothing is ever final, at %d', async (indexedTo) => {
    await expect(lookup([left], indexedTo, never)).rejects.toMatchObject(missing)
    expect(await lookup([left, paid({ ordinal: 1 })], indexedTo, never)).toMatchObject([{ final: false }])
  })

  it.each([...heights, 150])('does not verify, indexed up to %d', async (indexedTo) => {
    for (const options of [{}, never])
      await expect(setup([left], [], indexedTo, options).getErrors()).rejects.toMatchObject(missing)
  })

  it('is left out of a transaction that is verified by its other payments', async () => {
    const { tokenOut } = paid()
    const other = paid({ ordinal: 1, offChain: true, tokenOut: { ...tokenOut, gross: 1n, net: 1n } })
    expect(await setup([paid(), other]).getErrors()).toEqual([[]])
    expect(await setup([paid(), { ...other, offChain: false }]).getErrors()).toEqual([[], [amount]])
    expect(await setup([left, { ...other, offChain: false }]).getErrors()).toEqual([[amount]])
  })
})
