/** The integration's payments: the list, and one payment with its time line, snapshots and signature. @module */
import { integrationPaymentFilter, parseSearch } from '../filters.js'
import { PaymentContent, parseTransaction } from '../pages/payment.js'
import { findOnly, SearchText } from '../pages/payments.js'
import { parseCompared } from '../pages/snapshots.js'
import type { Field } from '../view/forms.js'
import { Copyable, Empty, Hex, paymentPath, sentencePage } from '../view/parts.js'
import { FilteredList, paymentColumns, stateField, timeFields } from '../view/rows.js'
import { ExportLinks } from '../web/export.js'
import { type PortalLoad, type PortalPageDeps, pickFields, portalHref, readContext } from './page.js'

const section = '/payments'
const fields: readonly Field[] = [
  stateField,
  { name: 'chain', label: 'Chain', hint: '137' },
  { name: 'wallet', label: 'Wallet', hint: '0x…', type: 'search' },
  ...timeFields,
]
const names = ['q', ...fields.map(({ name }) => name)]

export const paymentsPage: PortalLoad = async (deps, query) => {
  const { cursor, q: search, ...others } = query
  const { wallet } = parseSearch(search ?? '')
  // A wallet in the search box moves to the field Wallet, so that the filter has one wallet.
  const values = pickFields(wallet === undefined ? query : { ...others, wallet }, names)
  const { q } = values
  const page = await deps.tenant.payments({ ...integrationPaymentFilter(values), cursor })
  const isComplete = cursor === undefined && page.next === null
  const only = isComplete ? findOnly(page.rows, q) : undefined
  if (only !== undefined) return { goTo: paymentPath(only) }
  const body = (
    <FilteredList
      {...{ title: 'Payments', toHref: portalHref, section, fields, values, ...page }}
      columns={paymentColumns(portalHref)}
      position={['cursor', cursor]}
      examined="5,000 payments"
      empty={Object.keys(values).length > 0 ? noMatch : noPayments(deps)}
    >
      {q === undefined ? null : <SearchText text={q} />}
      <ExportLinks toHref={(ending) => portalHref(section + ending, values)} />
    </FilteredList>
  )
  return { title: 'Payments', section, body, search }
}

const noMatch = (
  <Empty title="No payment of your integration matches.">
    <p>
      <a href={portalHref(section)}>Show all payments</a>. The search box finds a hash, a wallet, the beginning of a
      memo, or an invoice such as <code>25.00 EUR</code>.
    </p>
  </Empty>
)

export const noPayments = ({ origin, tenant: { address } }: PortalPageDeps) => (
  <Empty title="No payment names your integration yet.">
    <p>
      A payment appears here when its block is indexed and its transaction carries <Hex value={address} isWhole /> as
      the integration. Your server reads the same list:
    </p>
    <Copyable label="A request for your payments" text={buildCurl(origin, address)} />
    <Copyable label="A script that reads your payments" text={buildClientCode(origin, address)} />
  </Empty>
)

// Code to copy has the integration's real address; its secrets come from the environment.
const buildCurl = (origin: string, address: string) =>
  `curl -s -u "${address}:$API_SECRET" ${origin}/api/v1/integration/payments`

const buildClientCode = (origin: string, address: string) => `import { createClient } from '@payment-integration/client'

const client = createClient({
  baseUrl: '${origin}',
  integrationAddress: '${address}',
  apiSecret: process.env.API_SECRET,
})
for await (const payment of client.payments.iterate())
  console.log(payment.txHash, payment.version, payment.state)
`

/** Says nothing of other integrations: an unknown hash and a payment of theirs get the same answer. */
const notFoundText = 'No payment with this hash names your integration. It appears once its block is indexed.'

export const paymentPage: PortalLoad = async ({ tenant, clock }, query, name) => {
  const transaction = parseTransaction(name)
  if (transaction === null) return null
  const compare = parseCompared(query)
  const detail = await tenant.payment(transaction.chainId, transaction.txHash, compare)
  if (detail === null)
    return { ...sentencePage('Payment not found', notFoundText, { section, home: portalHref('') }), status: 404 }
  const noDelivery = (
    <>
      there was no notification URL when its version was made; set one at <a href={portalHref('/endpoint')}>Endpoint</a>
    </>
  )
  const shared = { compare, noDelivery, toHref: portalHref, updates: [], context: await readContext({ tenant, clock }) }
  const body = <PaymentContent {...detail} {...shared} />
  return { title: `Payment ${transaction.txHash.slice(0, 10)}`, section, body }
}
