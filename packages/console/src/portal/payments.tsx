/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The integration's payments. @module */
import type { PaymentBody } from '@payment-integration/contract'
import { isHash } from '../pages/payments.js'
import { Badge, type Column, Copyable, Empty, Hex, Pager, paymentPath, Shown, Table, When } from '../view/parts.js'
import { showAmount, showInvoice } from '../view/rows.js'
import { nameChain } from '../view/text.js'
import { ExportLinks } from '../web/export.js'
import { type PortalLoad, type PortalPageDeps, portalHref } from './page.js'

const section = '/payments'

export const paymentsPage: PortalLoad = async (deps, { q, cursor, wallet = isAddress(q) ? q : undefined }) => {
  const search = wallet ?? q
  const matches = search === wallet ? null : await deps.tenant.search(search ?? '')
  const [only, ...others] = matches ?? []
  if (only !== undefined && others.length === 0 && (isHash(q) || only.memo === q)) return { goTo: paymentPath(only) }
  const { payments, nextCursor } =
    matches === null ? await deps.tenant.listPayments({ wallet, cursor }) : { payments: matches, nextCursor: null }
  const body = (
    <>
      <h1>Payments</h1>
      {search === undefined ? null : (
        <p class="dim">
          Payments {wallet !== undefined ? 'with the wallet' : isHash(q) ? 'with the hash' : 'whose memo begins with'}{' '}
          <code class="whole">
            <Shown text={search} max={80} />
          </code>
          . <a href={portalHref(section)}>Show all payments</a>
        </p>
      )}
      {matches === null ? <ExportLinks toHref={(ending) => portalHref(section + ending, { wallet })} /> : null}
      <PaymentTable payments={payments} empty={search === undefined ? noPayments(deps) : noMatch} />
      {matches === null || isHash(q) ? null : <p class="dim">Up to 50 matches from your newest 5,000 payments.</p>}
      <Pager
        first={cursor === undefined ? null : portalHref(section, { wallet })}
        next={nextCursor === null ? null : portalHref(section, { wallet, cursor: nextCursor })}
      />
    </>
  )
  return { title: 'Payments', section, body, search }
}

const isAddress = (text = '') => /^0x[0-9a-f]{40}$/i.test(text)
const noMatch = (
  <Empty title="No payment of your integration matches.">
    <p>A payment is found by its hash, its sender or receiver, or the beginning of its memo among your newest 5,000.</p>
  </Empty>
)

const columns: readonly Column<PaymentBody>[] = [
  ['State', ({ state }) => <Badge word={state ?? 'none'} />],
  ['Time', ({ blockTimestamp }) => <When at={Date.parse(blockTimestamp)} withDate />],
  ['Transaction', (payment) => <Hex value={payment.txHash} href={portalHref(paymentPath(payment))} />],
  ['Chain', ({ chainId }) => nameChain(chainId)],
  ['Received', ({ tokenOut: { amountNet, symbol } }) => showAmount(amountNet, symbol), 'n'],
  ['Invoice', ({ invoice }) => showInvoice(invoice), 'n'],
  ['Memo', ({ memo }) => <Shown text={memo} max={34} />],
  ['Version', ({ version }) => version, 'n'],
]

export const PaymentTable = (props: { payments: readonly PaymentBody[]; empty: ReturnType<typeof noPayments> }) => (
  <Table label="Payments" rows={props.payments} columns={columns} empty={props.empty} />
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
