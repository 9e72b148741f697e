/** A legacy transaction, and its queries. */
import { type LinkConfig, type VerifyRequest, verificationErrors } from '@payment-integration/contract'
import { expect } from 'vitest'
import type { AccountRecord } from '../../src/legacy/legacy-store.js'
import { createLegacyQueries, type LegacyDeps } from '../../src/legacy/lookup-and-verify.js'
import type { StoredPayment } from '../../src/payments/payment.js'
import { hashOf, storedPayment } from './stored-payment.js'

export const txHash = hashOf('transaction')
export const receiver = `0x${'Ab'.repeat(20)}`
export const elsewhere = `0x${'Cd'.repeat(20)}`
export const usdc = storedPayment({ id: 'x' }).tokenOut.address
export const [link, address, currency, amount] = verificationErrors

/** One of the payments of the transaction: 10 USDC to the receiver, on chain 137. */
export const paid = (given: Partial<StoredPayment> & { ordinal?: number } = {}) => {
  const ordinal = given.ordinal ?? 0
  const { tokenOut } = storedPayment({ id: 'x' })
  return storedPayment({
    id: `payment ${ordinal}`,
    chainId: 137,
    txHash,
    receiver: receiver.toLowerCase(),
    memoHex: `0x${Buffer.from('order-7').toString('hex').padEnd(64, '0')}`,
    tokenOut: { ...tokenOut, gross: 10_000_000n, net: 9_955_000n },
    ...given,
    ordinal,
  })
}

export const account = (handle: string, config: LinkConfig, given: Partial<AccountRecord> = {}): AccountRecord => ({
  ...{ handle, address: receiver.toLowerCase(), config, createdAt: 0 },
  ...given,
})
export const accepting = (...tokens: LinkConfig['coins'][number]['tokens']): LinkConfig => ({
  coins: [{ chainId: 137, tokens }],
})
export const anyUsdc = accepting({ symbol: 'USDC' })

export function setup(
  payments: readonly StoredPayment[],
  accounts: readonly AccountRecord[] = [],
  indexedTo = 149,
  options: Pick<LegacyDeps, 'confirmations' | 'maxExtraFeeBps'> = {},
) {
  const queries = createLegacyQueries({
    payments: {
      transaction: async (asked) => ({
        payments: payments
          .filter(({ chainId, txHash }) => chainId === asked.chainId && txHash === asked.txHash)
          .toSorted((a, b) => a.ordinal - b.ordinal),
        indexedTo: asked.chainId === 137 ? indexedTo : null,
      }),
    },
    accounts: {
      find: async (handle) => accounts.find((account) => account.handle === handle) ?? null,
      findByAddress: async (address) =>
        accounts
          .filter((each) => [each.address, ...each.config.coins.map((coin) => coin.defaultAddress)].includes(address))
          .toSorted((a, b) => (a.handle < b.handle ? -1 : 1)),
    },
    ...options,
  })
  const asked = { invoiceAmount: '10', invoiceCurrency: 'USD', address: receiver }
  const request: VerifyRequest = { chainId: 137, txHash, ...asked }
  const getErrors = async (change: Partial<VerifyRequest> = {}) => {
    const { verified, result } = await queries.verify({ ...request, ...change })
    const errors = result.payments.map((payment) => payment.verificationErrors)
    expect(result.payments.map((payment) => payment.verified)).toEqual(errors.map((each) => each.length === 0))
    expect(verified).toBe(errors.every((each) => each.length === 0))
    return errors
  }
  return { queries, request, getErrors }
}
