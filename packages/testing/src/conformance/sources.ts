/** The suites that every receipt source and every fulfilment source passes. Source: their ports. @module */

import { ChainError } from '@payment-integration/core'
import type { BridgeDeposit, FulfilmentSource, ReceiptSource, StoredPayment } from '@payment-integration/core/ports'
import { afterAll, describe, expect, test } from 'vitest'

/** A receipt source under test. */
export interface ReceiptSourceSubject {
  readonly source: ReceiptSource
  /** A payment with a receipt. */
  readonly settled: StoredPayment
  /** A payment without one. */
  readonly unknown: StoredPayment
  /** Takes what the source asks out of reach. */
  cutOff(): Promise<void> | void
  close(): Promise<void> | void
}

/**
 * Registers the tests of the ReceiptSource port with vitest.
 * @param adapter - Names the tests.
 */
export function receiptSourceConformance(adapter: string, open: () => Promise<ReceiptSourceSubject>): void {
  const subject = once(open)
  describe(`${adapter}: a receipt source`, { sequential: true }, () => {
    afterAll(async () => (await subject()).close())

    test('answers the same update under the same id each time it is asked', async () => {
      const { source, settled } = await subject()
      const [first, second] = [await source.lookup(settled), await source.lookup(settled)]
      expect(first).not.toBeNull()
      expect(first?.id).toMatch(/./)
      expect(second).toEqual(first)
      expect(first).toMatchObject({ chainId: String(settled.chainId), txHash: settled.txHash })
    })

    test('answers null when there is nothing new', async () => {
      const { source, unknown } = await subject()
      expect(await source.lookup(unknown)).toBeNull()
    })

    test('rejects with a code that ends in _UNAVAILABLE when it cannot ask', async () => {
      const { source, settled, cutOff } = await subject()
      await cutOff()
      await expect(source.lookup(settled)).rejects.toMatchObject({ code: expect.stringMatching(/_UNAVAILABLE$/) })
    })
  })
}

/** A fulfilment source under test. */
export interface FulfilmentSourceSubject {
  readonly source: FulfilmentSource
  /** A deposit whose fulfilment is final. */
  readonly fulfilled: BridgeDeposit
  /** A deposit without a fulfilment. */
  readonly waiting: BridgeDeposit
  /** Takes what the source asks out of reach. */
  cutOff(): Promise<void> | void
  close(): Promise<void> | void
}

/**
 * Registers the tests of the FulfilmentSource port with vitest.
 * @param adapter - Names the tests.
 */
export function fulfilmentSourceConformance(adapter: string, open: () => Promise<FulfilmentSourceSubject>): void {
  const subject = once(open)
  describe(`${adapter}: a fulfilment source`, { sequential: true }, () => {
    afterAll(async () => (await subject()).close())

    test('answers the transaction that paid the receiver on the destination chain, each time it is asked', async () => {
      const { source, fulfilled } = await subject()
      const found = await source.lookup(fulfilled)
      expect(found).toMatchObject({ chainId: fulfilled.destinationChainId, receiver: fulfilled.receiver })
      expect(found?.txHash).toMatch(/^0x[0-9a-f]{64}$/)
      expect(found?.tokenOut.amount).toBeTypeOf('bigint')
      expect(await source.lookup(fulfilled)).toEqual(found)
    })

    test('answers null while there is none', async () => {
      const { source, waiting } = await subject()
      expect(await source.lookup(waiting)).toBeNull()
    })

    test('rejects with a ChainError when it cannot answer', async () => {
      const { source, fulfilled, cutOff } = await subject()
      await cutOff()
      await expect(source.lookup(fulfilled)).rejects.toBeInstanceOf(ChainError)
    })
  })
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null
  return () => {
    opened ??= open()
    return opened
  }
}
