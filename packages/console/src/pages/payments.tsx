/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The list of payments, and its search by hash, wallet, memo or invoice. @module */
import { paymentStates } from '@payment-integration/contract'
import type { Queries } from '@payment-integration/core'
import type {
  ConsolePage,
  ConsolePaymentFilter,
  ConsolePosition,
  DeliveryView,
  StoredPayment,
} from '@payment-integration/core/ports'
import { deliveryStatuses, type Given, positionText } from '../filters.js'
import type { ConsoleTools } from '../tools.js'
import { type Field, Filters } from '../view/forms.js'
import { Copyable, Empty, hrefOf, Pager, Shown, Table } from '../view/parts.js'
import { DeliveryRow, deliveryColumns, PaymentRow, paymentColumns } from '../view/rows.js'
import { shortHex, shownText } from '../view/text.js'
import { ReplayManyLink } from './deliveries.js'
import { TestPayment } from './tools.js'

/** Choices of the forms. */
export interface Choices {
  readonly chainIds: readonly number[]
  readonly integrations: readonly { readonly address: string; readonly name: string }[]
  readonly origin: string
  readonly tools: ConsoleTools
}

const named = (values: readonly string[]) => values.map((value) => [value, value.replaceAll('_', ' ')] as const)

function commonFields({ chainIds, integrations }: Choices, given: Given, withNone: boolean): readonly Field[] {
  const chosen = given['integration']?.toLowerCase()
  const isNamed = chosen === undefined || chosen === 'none' || integrations.some(({ address }) => address === chosen)
  const all = isNamed ? integrations : [...integrations, { address: chosen, name: '' }]
  const own = all.map(({ address, name }) => [address, `${shownText(name, 30)} ${shortHex(address)}`] as const)
  return [
    { name: 'chain', label: 'Chain', options: chainIds.map((id) => [String(id), String(id)] as const) },
    { name: 'integration', label: 'Integration', options: withNone ? [...own, ['none', 'none'] as const] : own },
    { name: 'since', label: 'Since (UTC)', hint: '', kind: 'datetime-local' },
    { name: 'until', label: 'Until (UTC)', hint: '', kind: 'datetime-local' },
  ]
}

/** Payments. */
export function PaymentsPage(props: {
  given: Given
  choices: Choices
  page: ConsolePage<StoredPayment, ConsolePosition>
  found: Found | null
}) {
  const { given, choices, page, found } = props
  const fields: readonly Field[] = [
    { name: 'q', label: 'Search', hint: 'hash, wallet, memo, or 25.00 EUR', kind: 'search' },
    { name: 'state', label: 'State', options: named([...paymentStates, 'none']) },
    ...commonFields(choices, given, true),
  ]
  const { before, ...rest } = given
  const next = page.next === null ? null : hrefOf('/payments', { ...rest, before: positionText(page.next) })
  return (
    <>
      <h1>Payments</h1>
      <Filters path="/payments" fields={fields} given={given} />
      {found === null ? null : (
        <p class="dim">
          Searched as {found.kind === 'hash' ? 'hash or memo' : found.kind}. {found.notes.join(' ')}
        </p>
      )}
      {page.rows.length === 0 ? (
        <NoPayments given={given} choices={choices} />
      ) : (
        <Table label="Payments" columns={paymentColumns} id="rows">
          {page.rows.map((payment) => (
            <PaymentRow payment={payment} />
          ))}
        </Table>
      )}
      <Pager
        first={before === undefined ? null : hrefOf('/payments', rest)}
        next={next}
        cut={page.isCut ? 'The newest 5,000 payments were examined.' : null}
      />
    </>
  )
}

function NoPayments({ given, choices }: { given: Given; choices: Choices }) {
  if (Object.keys(given).length > 0)
    return (
      <Empty title="No payment matches.">
        <p>
          <a href={hrefOf('/payments', {})}>Show all payments</a>. A memo is searched by its beginning, an invoice by
          its amount and currency, such as <code>25.00 EUR</code>.
        </p>
        {given['q'] === undefined ? null : (
          <p class="dim">
            Searched: <Shown text={given['q']} most={80} />
          </p>
        )}
      </Empty>
    )
  return (
    <Empty title="No payment is indexed yet.">
      <p>Integrations read their payments like this:</p>
      <Copyable
        label="A request for payments"
        text={`curl -s -u "$INTEGRATION:$API_SECRET" ${choices.origin}/api/v1/integration/payments`}
      />
      <TestPayment tools={choices.tools} integration={choices.integrations[0]} />
    </Empty>
  )
}

/** Deliveries. */
export function DeliveriesPage(props: { given: Given; choices: Choices; page: ConsolePage<DeliveryView, string> }) {
  const { given, choices, page } = props
  const fields: readonly Field[] = [
    { name: 'hash', label: 'Transaction', hint: '0x…', kind: 'search' },
    { name: 'status', label: 'Status', options: named(deliveryStatuses) },
    ...commonFields(choices, given, false),
  ]
  const { before, ...rest } = given
  return (
    <>
      <h1>Deliveries</h1>
      <Filters path="/deliveries" fields={fields} given={given} />
      <ReplayManyLink given={given} />
      {page.rows.length === 0 ? (
        <NoDeliveries given={given} />
      ) : (
        <Table label="Deliveries" columns={deliveryColumns} id="rows">
          {page.rows.map((delivery) => (
            <DeliveryRow delivery={delivery} />
          ))}
        </Table>
      )}
      <Pager
        first={before === undefined ? null : hrefOf('/deliveries', rest)}
        next={page.next === null ? null : hrefOf('/deliveries', { ...rest, before: page.next })}
        cut={page.isCut ? 'The newest 2,000 deliveries were examined.' : null}
      />
    </>
  )
}

function NoDeliveries({ given }: { given: Given }) {
  if (Object.keys(given).length > 0)
    return (
      <Empty title="No delivery matches.">
        <p>
          <a href={hrefOf('/deliveries', {})}>Show all deliveries</a>
        </p>
      </Empty>
    )
  return (
    <Empty title="Nothing was delivered yet.">
      <p>Each version of a payment is posted to the notification URL of its integration. Set one:</p>
      <Copyable
        label="A command that sets a notification URL"
        text="payment-integration integrations set-url 0x1111111111111111111111111111111111111111 https://shop.example/hook"
      />
    </Empty>
  )
}

/** How the text was understood. */
type SearchKind = 'hash' | 'wallet' | 'invoice' | 'memo'

/** Payments of a search, newest first. */
interface Found {
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
