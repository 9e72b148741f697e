/** Invented sample bodies; a test checks each by its schema. @module */
import type { ErrorBody, ShareRejectedBody } from '../error-bodies.js'
import { formatShareRejection, type ShareResponse } from '../identity.js'
import type { LegacyErrorBody, Lookup, VerifyRequest, VerifyResponse } from '../legacy.js'
import type { PageBody, PaymentBody } from '../payment.js'
import type { ProcessorUpdate, UpdateResult, UpdateResults } from '../processor-updates.js'
import type { ShareRequest } from '../share-request.js'
import type { SnapshotBody } from '../snapshot.js'

const repeat = (digit: string, bytes: number) => `0x${digit.repeat(2 * bytes)}`
const receiver = repeat('3', 20)

export const snapshot: SnapshotBody = {
  integrationAddress: repeat('1', 20),
  chainId: '137',
  txHash: repeat('a', 32),
  version: 2,
  state: 'success',
  recipient: { title: 'Corner Café', subtitle: null },
  invoice: { amount: '12.50', currency: 'EUR', settlementAmount: '13.37', settlementCurrency: 'USD' },
}

export const payment: PaymentBody = {
  ...snapshot,
  sender: repeat('2', 20),
  receiver,
  memo: 'order-7',
  blockTimestamp: '2026-01-02T03:04:05.000Z',
  source: { chainId: '137', txHash: repeat('a', 32) },
  tokenIn: { address: repeat('4', 20), symbol: 'USDC', amount: '13.4' },
  tokenOut: { address: repeat('4', 20), symbol: 'USDC', amountGross: '13.4', amountNet: '13.37' },
}

export const page: PageBody = { payments: [payment], nextCursor: null }

const legacyPayment: Lookup['payments'][number] = {
  memo: 'order-7',
  receiver,
  tokenSymbol: 'USDC',
  tokenAmount: { formatted: '13.4', value: '13400000' },
  tokenAmountNet: { formatted: '13.37', value: '13370000' },
  totalFees: { formatted: '0.03', value: '30000' },
  fees: [
    { type: 'ServiceFee', formatted: '0.02', value: '20000' },
    { type: 'ExtraFee', formatted: '0.01', value: '10000' },
  ],
  invoiceAmount: '12.5',
  invoiceCurrency: 'EUR',
  conversion: 'chainlink:EURUSD',
  priceFeeds: [{ name: 'EURUSD', contract: repeat('5', 20), rate: '1.072' }],
  final: true,
}

export const lookup: Lookup = { chainId: 137, txHash: repeat('a', 32), payments: [legacyPayment] }

const match = { ...legacyPayment, verified: true, verificationErrors: [] }
export const verified: VerifyResponse = { ...lookup, payments: [match] }
const mismatch = { ...legacyPayment, verified: false, verificationErrors: ['Invalid payment amount'] }
export const notVerified: VerifyResponse = { ...lookup, payments: [mismatch] }

export const verifyRequest: VerifyRequest = {
  chainId: 137,
  txHash: repeat('a', 32),
  invoiceAmount: '12.50',
  invoiceCurrency: 'EUR',
  address: receiver,
}

export const update: ProcessorUpdate = {
  id: 'update-1',
  chainId: '137',
  txHash: repeat('a', 32),
  state: 'success',
  recipient: { title: 'Corner Café', subtitle: null },
}

export const updateApplied: UpdateResult = { id: 'update-1', outcome: 'applied', version: 2, reason: null }
export const updateUnchanged: UpdateResult = { id: 'update-1', outcome: 'unchanged', version: 2, reason: null }
const reason = 'applied once the payment is indexed'
export const updateWaiting: UpdateResult = { id: 'update-1', outcome: 'waiting', version: null, reason }

const secondUpdate: ProcessorUpdate = { ...update, id: 'update-2', state: 'refund_pending' }
export const updates = { updates: [update, secondUpdate] }
const secondApplied: UpdateResult = { ...updateApplied, id: 'update-2', version: 3 }
export const updateResults: UpdateResults = { results: [updateApplied, secondApplied] }

const error = 'A payment in refund_success cannot become pending'
const rejectedResult: UpdateResult = { id: 'update-1', outcome: 'rejected', version: 2, reason: error }
export const updateRejected: UpdateResult & ErrorBody = { error, ...rejectedResult }

export const legacyError: LegacyErrorBody = {
  error: 'Invalid request',
  details: [{ code: 'invalid_format', message: 'txHash must start with 0x and have 64 hex digits', path: ['txHash'] }],
}

export const shareRequest: ShareRequest = { email: 'user@shop.example', kycShareToken: '_act-jwt-eyJhbGciOiJub25lIn0' }

type Verdict = Pick<ShareResponse, 'reviewAnswer' | 'rejectType' | 'rejectLabels'>
const noVerdict: Verdict = { reviewAnswer: null, rejectType: null, rejectLabels: [] }
const redVerdict: Verdict = { reviewAnswer: 'RED', rejectType: 'RETRY', rejectLabels: ['BAD_SELFIE'] }
export const shareBegun: ShareResponse = { reviewStatus: 'init', ...noVerdict, reused: true }
export const shareConcurrent: ShareResponse = { ...shareBegun, reviewStatus: 'not_started', reused: false }
export const shareApproved: ShareResponse = { ...shareConcurrent, reviewStatus: 'completed', reviewAnswer: 'GREEN' }
export const shareReviewRejected: ShareResponse = { reviewStatus: 'completed', ...redVerdict, reused: true }

export const shareRejected: ShareRejectedBody = {
  error: 'The identity provider rejected the share token; read message',
  message:
    'Token is invalid: Token 65f2 created at 2026-01-02T03:04:05Z with ttl 1200 but accessed at 2026-01-02T03:34:05Z',
}

export const shareRejectedFinally: ShareRejectedBody = {
  error: shareRejected.error,
  message: formatShareRejection(shareRejected.message, { rejectType: 'FINAL', rejectLabels: ['FORGERY'] }),
}

const node = {
  name: 'node.example #1',
  score: 0.98,
  inUse: true,
  head: 1_200,
  latencyMs: 14,
  failures: 1,
  contradictions: 0,
  failedProofs: 0,
  calls: 2_411,
  receivedBytes: 18_350_080,
  blocks: 1_198,
  maxRange: 2_000,
  lastError: null,
}
const chain = {
  chainId: 137,
  leading: true,
  head: 1_200,
  headAt: 1_767_323_093_000,
  indexed: 1_198,
  lag: 2,
  proof: 'root',
  reorgs: 3,
  nodes: [node],
  error: null,
  lastError: null,
}
const outage = 'The node does not answer'
export const healthy = { status: 'ok', database: 'ok', chains: [chain] }
export const degraded = {
  status: 'degraded',
  database: 'ok',
  chains: [
    {
      ...chain,
      nodes: [{ ...node, score: 0.2, failures: 4, lastError: outage }],
      error: outage,
      lastError: { message: outage, at: 1_767_323_045_000 },
    },
  ],
}
export const down = { status: 'down', database: 'unavailable', chains: [chain] }
