import type { PaymentBody, ShareResponse, SnapshotBody } from '../src/exports/index.js'
import type { Account } from '../src/legacy-snapshot.js'

export const snapshot: SnapshotBody = {
  integrationAddress: `0x${'1'.repeat(40)}`,
  chainId: '137',
  txHash: `0x${'a'.repeat(64)}`,
  version: 3,
  state: 'success',
  recipient: { title: 'Café', subtitle: null },
  invoice: { amount: '12.50', currency: 'EUR', settlementAmount: '13.37', settlementCurrency: 'USD' },
}

export const payment: PaymentBody = {
  ...snapshot,
  sender: `0x${'2'.repeat(40)}`,
  receiver: `0x${'3'.repeat(40)}`,
  memo: 'order-7',
  blockTimestamp: '2026-01-02T03:04:05.000Z',
  source: { chainId: '137', txHash: `0x${'a'.repeat(64)}` },
  tokenIn: { address: `0x${'4'.repeat(40)}`, symbol: null, amount: '13.4' },
  tokenOut: { address: `0x${'4'.repeat(40)}`, symbol: 'USDC.e', amountGross: '13.4', amountNet: '13.37' },
}

const units = { formatted: '1.00', value: '1000000' }

/** A payment of the legacy API, without a verdict. */
export const legacyItem = {
  ...{ memo: 'order-7', receiver: '0xabc', tokenSymbol: 'USDC', conversion: '' },
  ...{ tokenAmount: units, tokenAmountNet: units, totalFees: units, fees: [{ type: 'ServiceFee', ...units }] },
  ...{ invoiceAmount: '1.00', invoiceCurrency: 'USD' },
  priceFeeds: [{ name: 'ETHUSD', contract: '0xdef', rate: '3000.1' }],
}

export const shareResponse: ShareResponse = {
  reviewStatus: 'completed',
  reviewAnswer: 'RED',
  rejectType: 'RETRY',
  rejectLabels: ['BAD_SELFIE'],
  reused: false,
}

const tokens = [{ symbol: 'USDC' }, { symbol: 'DAI', address: `0x${'6'.repeat(40)}` }]

export const account: Account = {
  address: `0x${'3'.repeat(40)}`,
  config: {
    coins: [
      { chainId: 137, defaultAddress: `0x${'5'.repeat(40)}`, tokens },
      { chainId: 10, tokens: [] },
    ],
    onCompleteAction: { type: 'REDIRECT', payload: { url: 'https://shop.example' } },
  },
  handle: 'mara.shop',
}
