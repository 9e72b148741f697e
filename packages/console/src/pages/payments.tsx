/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The list of payments, and its search by hash, wallet, memo or invoice. @module */
import { paymentStates } from '@payment-integration/contract'
import type { Queries } from '@payment-integration/core'
import { type ConsolePaymentFilter, parseMemo } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { formatPosition, matchesPayment, parsePosition, paymentFilter } from '../filters.js'
import { type Field, Filters, ForRole } from '../view/forms.js'
import { buildHref, Copyable, Empty, Pager, paymentPath, Shown, Table } from '../view/parts.js'
import { type Choices, listFields, paymentRows, wordOptions } from '../view/rows.js'
import { ExportLinks } from '../web/export.js'
import { buildTopic, describeIndexed, type Load, type PageDeps, pageSize, readChoices } from './page.js'
import { TestPayment } from './tools.js'

const section = '/payments'
const foundBy: { [kind in Found['kind']]?: string } = { hash: 'with the hash or memo', memo: 'whose memo begins with' }

export const paymentsPage: Load = async (deps, query) => {
  const { queries } = deps.service
  const { before: position, ...rest } = query
  const filter = paymentFilter(query)
  const before = parsePosition(position)
  const { q } = query
  const results = q === undefined ? null : await search(queries, q, filter, pageSize)
  const [only, ...others] = results?.notes.length === 0 ? results.payments : []
  if (only !== undefined && others.length === 0 && (isHash(q) || parseMemo(only.memoHex) === q))
    return { goTo: paymentPath(only) }
  const page =
    results === null
      ? await queries.payments({ ...filter, before, limit: pageSize })
      : { rows: results.payments, next: null, isCut: false }
  const choices = await readChoices(deps)
  const fields: readonly Field[] = [
    { name: 'state', label: 'State', options: [...wordOptions(paymentStates), ['none', 'no state']] },
    ...listFields(choices, query, true),
  ]
  const isFiltered = Object.keys(query).length > 0
  const body = (
    <>
      <h1>Payments</h1>
      <Filters action={buildHref(section)} fields={fields} values={query} />
      <ForRole needs="operator">
        {results === null ? <ExportLinks toHref={(ending) => buildHref(section + ending, rest)} /> : null}
      </ForRole>
      {results === null ? null : (
        <p class="dim">
          Payments {foundBy[results.kind] ?? `with the ${results.kind}`}{' '}
          <code class="whole">
            <Shown text={q ?? ''} max={80} />
          </code>
          . {results.notes.join(' ')}
        </p>
      )}
      <Table
        label="Payments"
        rows={page.rows}
        {...paymentRows}
        id="rows"
        empty={
          isFiltered ? (
            <NoMatch text={q} indexers={deps.service.indexers} />
          ) : (
            <NoPayments deps={deps} choices={choices} />
          )
        }
      />
      <Pager
        first={position === undefined ? null : buildHref(section, rest)}
        next={page.next === null ? null : buildHref(section, { ...rest, before: formatPosition(page.next) })}
        cut={page.isCut ? '5,000 payments were examined.' : null}
      />
    </>
  )
  const live = before === undefined && results === null ? buildTopic('payments', query) : undefined
  return { title: 'Payments', section, body, live, search: q }
}

const NoMatch = ({ text = '', indexers }: { text?: string | undefined; indexers: PageDeps['service']['indexers'] }) => (
  <Empty title={isHash(text) ? 'No payment with this hash.' : 'No payment matches.'}>
    {isHash(text) ? <p>A payment appears when its block is indexed: {describeIndexed(indexers)}.</p> : null}
    <p>
      <a href={buildHref(section)}>Show all payments</a>. A memo is found by its beginning, an invoice by its amount and
      currency, such as <code>25.00 EUR</code>.
    </p>
  </Empty>
)

const NoPayments = ({ deps: { url, tools }, choices }: { deps: PageDeps; choices: Choices }) => (
  <Empty title="No payment is indexed yet.">
    <p>Integrations read their payments like this:</p>
    <Copyable
      label="A request for payments"
      text={`curl -s -u "$INTEGRATION:$API_SECRET" ${url.origin}/api/v1/integration/payments`}
    />
    <TestPayment tools={tools} integration={choices.integrations[0]} />
  </Empty>
)

export const isHash = (text = '') => /^0x[0-9a-f]{64}$/i.test(text)

interface Found {
  readonly kind: 'hash' | 'wallet' | 'invoice' | 'memo'
  readonly payments: readonly StoredPayment[]
  /** Sentences that describe the payments that were not searched; empty: all were searched. */
  readonly notes: readonly string[]
}

type Reads = Pick<Queries, 'search' | 'integrations' | 'payments'>

const maxIntegrations = 1_000
const memoBytes = 32

export const toMemoSearch = (text: string) =>
  ({ kind: 'memo', prefix: `0x${Buffer.from(text).subarray(0, memoBytes).toString('hex')}` }) as const

/** Searches up to the limit, then applies the page's other filters. Notes describe payments that were left out. */
export async function search(reads: Reads, text: string, filter: ConsolePaymentFilter, limit: number): Promise<Found> {
  const results = await find(reads, text, filter, limit)
  const payments = results.payments.filter((payment) => matchesPayment(payment, filter))
  return { ...results, payments: payments.sort((a, b) => b.blockTimestamp - a.blockTimestamp) }
}

async function find(reads: Reads, text: string, filter: ConsolePaymentFilter, limit: number): Promise<Found> {
  const lower = text.toLowerCase()
  if (isHash(text)) {
    const [byHash, byMemo] = await Promise.all([
      reads.search({ kind: 'hash', txHash: lower }, limit + 1),
      reads.search({ kind: 'memo', prefix: lower }, limit + 1),
    ])
    const all = [...new Map([...byHash, ...byMemo].map((row) => [row.id, row])).values()]
    const others = 'the legacy look-up shows a transaction'
    return findFirst(all, limit, { kind: 'hash', order: `the first ${limit}`, others })
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
  const rows = await reads.search(toMemoSearch(text), limit + 1)
  const others = 'a longer beginning of the memo finds others'
  return findFirst(rows, limit, { kind: 'memo', order: `the first ${limit} by memo`, others })
}

/** Keeps the first `limit` rows. If more were read, adds a note: the page's filters apply only to the kept rows. */
function findFirst(
  rows: readonly StoredPayment[],
  limit: number,
  { kind, order, others }: Pick<Found, 'kind'> & { readonly order: string; readonly others: string },
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
  const results = findFirst(rows, limit, { kind: 'wallet', order: `the newest ${limit}`, others })
  if (integrationAddress !== undefined) return results
  const partial = 'Payments of 1,000 integrations were searched; choose an integration to search another one.'
  return { ...results, notes: [...results.notes, unregistered, ...((await hasMore(reads)) ? [partial] : [])] }
}

async function hasMore(reads: Reads): Promise<boolean> {
  const first = await reads.integrations({ limit: maxIntegrations })
  const last = first.length < maxIntegrations ? undefined : first.at(-1)
  return last !== undefined && (await reads.integrations({ afterAddress: last.address, limit: 1 })).length > 0
}
