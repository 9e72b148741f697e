/** Builds a page of 200 payments in the service's format. @module */
import { type PageBody, type PaymentBody, pageLimit, pageWriteSchema } from '@payment-integration/contract'

/** The integration of the payments. */
export const integrationAddress = `0x${'ab'.repeat(20)}`

/** The text of the page. */
export function pageText(): string {
  const page: PageBody = {
    payments: Array.from({ length: pageLimit.max }, (_, place) => payment(place)),
    nextCursor: 'next',
  }
  return JSON.stringify(pageWriteSchema.parse(page))
}

/** Each has its own wallet, hash, time and amounts; integration, chain and token are equal, as in a shop. */
function payment(place: number): PaymentBody {
  const hex = (length: number, salt: number) => `0x${(place * 7_919 + salt).toString(16).padStart(length, 'c')}`
  const cents = String(1_000 + place)
  const amount = `${cents.slice(0, -2)}.${cents.slice(-2)}`
  return {
    integrationAddress,
    chainId: '137',
    txHash: hex(64, 1),
    version: 2,
    state: place % 10 === 0 ? 'pending' : 'success',
    recipient: { title: 'Café Example', subtitle: null },
    invoice: { amount, currency: 'EUR', settlementAmount: amount, settlementCurrency: 'USD' },
    sender: hex(40, 2),
    receiver: `0x${'22'.repeat(20)}`,
    memo: `order ${place}`,
    blockTimestamp: new Date(1_760_000_000_000 - place * 1_000).toISOString(),
    source: { chainId: '137', txHash: hex(64, 1) },
    tokenIn: { address: `0x${'33'.repeat(20)}`, symbol: 'USDC', amount },
    tokenOut: { address: `0x${'33'.repeat(20)}`, symbol: 'USDC', amountGross: amount, amountNet: amount },
  }
}
