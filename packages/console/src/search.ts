/** Finds payments by what a person types into one box: a hash, a wallet, a memo or an invoice. @module */
import type { ConsolePaymentFilter, ConsoleReads, StoredPayment } from '@payment-integration/core/ports'

/** How the text was understood. */
export type SearchKind = 'hash' | 'wallet' | 'invoice' | 'memo'

/** Payments of a search, newest first. */
export interface Found {
  readonly kind: SearchKind
  readonly payments: readonly StoredPayment[]
  /** A sentence that names the payments that were not searched; null: all were. */
  readonly note: string | null
}

/** Integrations among whose payments a wallet is searched. */
const mostIntegrations = 1_000
const memoBytes = 32

/** Searches; other filters of the page narrow the result. */
export async function search(
  reads: ConsoleReads,
  text: string,
  filter: ConsolePaymentFilter,
  limit: number,
): Promise<Found> {
  const found = await find(reads, text, filter, limit)
  const payments = found.payments.filter((payment) => fits(payment, filter)).sort(newestFirst)
  return { ...found, payments: payments.slice(0, limit) }
}

async function find(reads: ConsoleReads, text: string, filter: ConsolePaymentFilter, limit: number): Promise<Found> {
  const lower = text.toLowerCase()
  if (/^0x[0-9a-f]{64}$/.test(lower)) {
    const [byHash, byMemo] = await Promise.all([
      reads.search({ kind: 'hash', txHash: lower }, limit),
      reads.search({ kind: 'memo', prefix: lower }, limit),
    ])
    return {
      kind: 'hash',
      payments: [...new Map([...byHash, ...byMemo].map((row) => [row.id, row])).values()],
      note: null,
    }
  }
  if (/^0x[0-9a-f]{40}$/.test(lower)) return ofWallet(reads, lower, filter, limit)
  const invoice = /^(\d{1,30}(?:\.\d{1,18})?)(?: +([A-Za-z]{3,10}))?$/.exec(text)
  if (invoice?.[1] !== undefined && (invoice[2] !== undefined || text.includes('.'))) {
    const wanted = { amount: invoice[1], currency: invoice[2]?.toUpperCase() }
    const page = await reads.payments({ ...filter, invoice: wanted, limit })
    const note = page.isCut ? 'Only the newest 5,000 payments of the filters were searched for this invoice.' : null
    return { kind: 'invoice', payments: page.rows, note }
  }
  const prefix = Buffer.from(text).subarray(0, memoBytes).toString('hex')
  return { kind: 'memo', payments: await reads.search({ kind: 'memo', prefix: `0x${prefix}` }, limit), note: null }
}

async function ofWallet(
  reads: ConsoleReads,
  wallet: string,
  filter: ConsolePaymentFilter,
  limit: number,
): Promise<Found> {
  const integrationAddress = filter.integrationAddress ?? undefined
  const payments = await reads.search({ kind: 'wallet', wallet, integrationAddress }, limit)
  const isPartial = integrationAddress === undefined && (await hasMore(reads))
  const note = isPartial
    ? 'Payments of 1,000 integrations were searched; choose an integration to search another one.'
    : null
  return { kind: 'wallet', payments, note }
}

/** Whether a wallet is searched among a part of the integrations. */
async function hasMore(reads: ConsoleReads): Promise<boolean> {
  const first = await reads.integrations({ limit: mostIntegrations })
  const last = first.length < mostIntegrations ? undefined : first.at(-1)
  return last !== undefined && (await reads.integrations({ afterAddress: last.address, limit: 1 })).length > 0
}

function fits(payment: StoredPayment, { state, chainId, integrationAddress, since, until }: ConsolePaymentFilter) {
  if (state !== undefined && payment.state !== state) return false
  if (chainId !== undefined && payment.chainId !== chainId) return false
  if (integrationAddress !== undefined && payment.integrationAddress !== integrationAddress) return false
  return payment.blockTimestamp >= (since ?? 0) && payment.blockTimestamp < (until ?? Number.POSITIVE_INFINITY)
}

const newestFirst = (a: StoredPayment, b: StoredPayment) => b.blockTimestamp - a.blockTimestamp
