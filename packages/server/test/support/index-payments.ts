/** Puts payments into a store as an indexer does: facts, version 1, snapshot and delivery in one transaction. */
import type { PaymentFacts, Store } from '@payment-integration/core/ports'

/** A thousandth of a token with 18 decimals. */
const milli = 10n ** 15n
const word = (digit: string, bytes: number) => `0x${digit.repeat(bytes * 2)}`

export function facts(overrides: Partial<PaymentFacts> = {}): PaymentFacts {
  const { chainId = 1, txHash = word('1', 32) } = overrides
  return {
    chainId,
    txHash,
    ordinal: 0,
    logIndex: 3,
    blockNumber: 100,
    blockHash: word('b', 32),
    blockTimestamp: Date.UTC(2026, 0, 2, 3, 4, 5),
    router: { address: word('e', 20), version: '0.8' },
    sender: word('5', 20),
    receiver: word('6', 20),
    memoHex: `0x${Buffer.from('order 17').toString('hex').padEnd(64, '0')}`,
    integrationAddress: null,
    source: { chainId, txHash },
    tokenIn: { address: word('7', 20), symbol: 'USDC', decimals: 6, amount: 12_500_000n },
    tokenOut: { address: word('8', 20), symbol: 'DAI', decimals: 18, gross: 12_500n * milli, net: 12_475n * milli },
    pricing: { listedToken: { symbol: 'DAI', currency: 'USD' }, feeds: [], calledAmount: null, serviceFee: null },
    ...overrides,
  }
}

export async function indexPayments(store: Store, all: readonly PaymentFacts[]): Promise<void> {
  await store.transaction(async (tx) => {
    const { inserted } = await tx.upsertPayments(all.map((each) => ({ facts: each, primary: true })))
    await tx.insertSnapshots(
      inserted.flatMap(({ id, version, state, recipient, invoice, integrationAddress, chainId, txHash }) => {
        if (integrationAddress === null) return []
        const snapshot = { integrationAddress, chainId: String(chainId), txHash, version, state, recipient, invoice }
        const body = Buffer.from(JSON.stringify(snapshot))
        return [{ paymentId: id, version, body, integrationAddress, chainId, txHash }]
      }),
    )
  })
}
