/** Finds payments by what a person types into one box: a hash, a wallet, a memo or an invoice. @module */
import type { Queries } from '@payment-integration/core'
import type { ConsolePaymentFilter, StoredPayment } from '@payment-integration/core/ports'

/** How the text was understood. */
export type SearchKind = 'hash' | 'wallet' | 'invoice' | 'memo'

/** Payments of a search, newest first. */
export interface Found {
  readonly kind: SearchKind
  readonly payments: readonly StoredPayment[]
  /** Sentences that name the payments that were not searched; empty: all were. */
  readonly notes: readonly string[]
}

type Reads = Pick<Queries, 'search' | 'integrations' | 'payments'>

/** Integrations among whose payments a wallet is searched. */
const mostIntegrations = 1_000
const memoBytes = 32

/** Searches; other filters of the page narrow the result, after the limit: a note says where payments are left out. */
export async function search(reads: Reads, text: string, filter: ConsolePaymentFilter, limit: number): Promise<Found> {
  const found = await find(reads, text, filter, limit)
  return { ...found, payments: found.payments.filter((payment) => fits(payment, filter)).sort(newestFirst) }
}

async function find(reads: Reads, text: string, filter: ConsolePaymentFilter, limit: number): Promise<Found> {
  const lower = text.toLowerCase()
  if (/^0x[0-9a-f]{64}$/.test(lower)) {
    const [byHash, byMemo] = await Promise.all([
      reads.search({ kind: 'hash', txHash: lower }, limit + 1),
      reads.search({ kind: 'memo', prefix: lower }, limit + 1),
    ])
    const all = [...new Map([...byHash, ...byMemo].map((row) => [row.id, row])).values()]
    return firstOf(all, limit, {
      kind: 'hash',
      order: `the first ${limit}`,
      others: 'the legacy look-up shows a transaction',
    })
  }
  if (/^0x[0-9a-f]{40}$/.test(lower)) return ofWallet(reads, lower, filter, limit)
  const invoice = /^(\d{1,30}(?:\.\d{1,18})?)(?: +([A-Za-z]{3,10}))?$/.exec(text)
  if (invoice?.[1] !== undefined && (invoice[2] !== undefined || text.includes('.'))) {
    const wanted = { amount: invoice[1], currency: invoice[2]?.toUpperCase() }
    const page = await reads.payments({ ...filter, invoice: wanted, limit })
    const cut = page.isCut ? ['Only the newest 5,000 payments of the filters were searched for this invoice.'] : []
    const more = page.next !== null && !page.isCut ? [`More match: these are the newest ${limit}.`] : []
    return { kind: 'invoice', payments: page.rows, notes: [...cut, ...more] }
  }
  const prefix = Buffer.from(text).subarray(0, memoBytes).toString('hex')
  const rows = await reads.search({ kind: 'memo', prefix: `0x${prefix}` }, limit + 1)
  return firstOf(rows, limit, {
    kind: 'memo',
    order: `the first ${limit} by memo`,
    others: 'a longer beginning of the memo finds others',
  })
}

/** So many rows of one more that was read, with a note of the others: filters are applied afterwards. */
function firstOf(
  rows: readonly StoredPayment[],
  limit: number,
  { kind, order, others }: { readonly kind: SearchKind; readonly order: string; readonly others: string },
): Found {
  if (rows.length <= limit) return { kind, payments: rows, notes: [] }
  const note = `More than ${limit} payments match the search: only ${order} are filtered and shown; ${others}.`
  return { kind, payments: rows.slice(0, limit), notes: [note] }
}

async function ofWallet(reads: Reads, wallet: string, filter: ConsolePaymentFilter, limit: number): Promise<Found> {
  const { integrationAddress } = filter
  const unregistered = 'Payments without a registered integration are not searched by wallet.'
  if (integrationAddress === null) return { kind: 'wallet', payments: [], notes: [unregistered] }
  const rows = await reads.search({ kind: 'wallet', wallet, integrationAddress }, limit + 1)
  const others = 'choose an integration to find others'
  const found = firstOf(rows, limit, { kind: 'wallet', order: `the newest ${limit}`, others })
  if (integrationAddress !== undefined) return found
  const partial = (await hasMore(reads))
    ? ['Payments of 1,000 integrations were searched; choose an integration to search another one.']
    : []
  return { ...found, notes: [...found.notes, unregistered, ...partial] }
}

/** Whether a wallet is searched among a part of the integrations. */
async function hasMore(reads: Reads): Promise<boolean> {
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
