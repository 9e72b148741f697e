/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The integration's payments and deliveries. @module */
import type { PaymentBody } from '@payment-integration/contract'
import type { ConsolePage, DeliveryView } from '@payment-integration/core/ports'
import { deliveryStatuses, type Given } from '../filters.js'
import { Filters } from '../view/forms.js'
import {
  Badge,
  Cell,
  type Column,
  Copyable,
  Empty,
  Hex,
  Pager,
  paymentPath,
  Shown,
  Table,
  When,
} from '../view/parts.js'
import { DeliveryCells, deliveryColumnsWith } from '../view/rows.js'
import { PortalForm, portalHref } from './page.js'

/** For whom, and where. */
export interface Place {
  readonly origin: string
  readonly address: string
}

const paymentColumns: readonly Column[] = [
  { title: 'State' },
  { title: 'Time' },
  { title: 'Transaction' },
  { title: 'Chain', isNumber: true },
  { title: 'Received', isNumber: true },
  { title: 'Invoice', isNumber: true },
  { title: 'Memo' },
  { title: 'Version', isNumber: true },
]

/** Rows of payments. */
export function PaymentTable({ payments }: { payments: readonly PaymentBody[] }) {
  return (
    <Table label="Payments" columns={paymentColumns}>
      {payments.map((payment) => (
        <tr>
          <Cell of="State">
            <Badge word={payment.state ?? 'none'} />
          </Cell>
          <Cell of="Time">
            <When at={Date.parse(payment.blockTimestamp)} withDate />
          </Cell>
          <Cell of="Transaction">
            <Hex value={payment.txHash} href={portalHref(paymentPath(payment))} />
          </Cell>
          <Cell of="Chain" isNumber>
            {payment.chainId}
          </Cell>
          <Cell of="Received" isNumber>
            {payment.tokenOut.amountNet} <Shown text={payment.tokenOut.symbol ?? ''} most={16} />
          </Cell>
          <Cell of="Invoice" isNumber>
            {payment.invoice === null ? (
              <span class="dim">none</span>
            ) : (
              `${payment.invoice.amount} ${payment.invoice.currency}`
            )}
          </Cell>
          <Cell of="Memo">
            <Shown text={payment.memo} most={34} />
          </Cell>
          <Cell of="Version" isNumber>
            {payment.version}
          </Cell>
        </tr>
      ))}
    </Table>
  )
}

/** Payments, as the read API lists them. */
export function OwnPaymentsPage(props: {
  given: Given
  place: Place
  page: { readonly payments: readonly PaymentBody[]; readonly nextCursor: string | null }
}) {
  const { given, place, page } = props
  const { wallet, cursor } = given
  const fields = [{ name: 'wallet', label: 'Wallet', hint: '0x…, sender or receiver', kind: 'search' }] as const
  return (
    <>
      <h1>Payments</h1>
      <Filters action={portalHref('/payments')} fields={fields} given={given} />
      {page.payments.length > 0 ? (
        <PaymentTable payments={page.payments} />
      ) : wallet === undefined ? (
        <NoPayments {...place} />
      ) : (
        <Empty title="No payment of this wallet names your integration." />
      )}
      <Pager
        first={cursor === undefined ? null : portalHref('/payments', { wallet })}
        next={page.nextCursor === null ? null : portalHref('/payments', { wallet, cursor: page.nextCursor })}
      />
    </>
  )
}

/** The way to a first payment. */
export function NoPayments({ origin, address }: Place) {
  return (
    <Empty title="No payment names your integration yet.">
      <p>
        A payment appears here when its block is indexed and its transaction carries{' '}
        <code class="whole">{address}</code> as the integration. Your server reads the same list:
      </p>
      <Copyable label="A request for your payments" text={curlOf(origin, address)} />
      <Copyable label="A script that reads your payments" text={clientOf(origin, address)} />
    </Empty>
  )
}

const deliveryColumns = deliveryColumnsWith('Replay')

/** Rows of deliveries. */
export function DeliveryTable({ deliveries }: { deliveries: readonly DeliveryView[] }) {
  return (
    <Table label="Deliveries" columns={deliveryColumns}>
      {deliveries.map((delivery) => (
        <OwnDelivery delivery={delivery} />
      ))}
    </Table>
  )
}

function OwnDelivery({ delivery }: { delivery: DeliveryView }) {
  return (
    <tr>
      <DeliveryCells delivery={delivery} href={portalHref(paymentPath(delivery))} />
      <Cell of="Replay">
        <PortalForm act="replay" label="Replay" fields={{ id: delivery.deliveryId }} />
      </Cell>
    </tr>
  )
}

/** Deliveries, newest first. */
export function OwnDeliveriesPage({ given, page }: { given: Given; page: ConsolePage<DeliveryView, string> }) {
  const { before, ...rest } = given
  const options = deliveryStatuses.map((status) => [status, status] as const)
  const fields = [
    { name: 'hash', label: 'Transaction', hint: '0x…', kind: 'search' },
    { name: 'status', label: 'Status', options },
  ] as const
  return (
    <>
      <h1>Deliveries</h1>
      <Filters action={portalHref('/deliveries')} fields={fields} given={given} />
      {page.rows.length > 0 ? (
        <DeliveryTable deliveries={page.rows} />
      ) : Object.keys(given).length > 0 ? (
        <Empty title="No delivery matches." />
      ) : (
        <NoDeliveries />
      )}
      <Pager
        first={before === undefined ? null : portalHref('/deliveries', rest)}
        next={page.next === null ? null : portalHref('/deliveries', { ...rest, before: page.next })}
        cut={page.isCut ? 'The newest 2,000 deliveries were examined.' : null}
      />
    </>
  )
}

function NoDeliveries() {
  return (
    <Empty title="Nothing was delivered yet.">
      <p>
        Each version of a payment is posted to your notification URL. Set it at{' '}
        <a href={portalHref('/endpoint')}>Endpoint</a>, where a test delivery shows whether your receiver answers.
      </p>
    </Empty>
  )
}

/** A request that lists payments. */
const curlOf = (origin: string, address: string) =>
  `curl -s -u "${address}:$API_SECRET" ${origin}/api/v1/integration/payments`

/** A script that reads all payments. */
const clientOf = (origin: string, address: string) => `import { createClient } from '@payment-integration/client'

const client = createClient({
  baseUrl: '${origin}',
  integrationAddress: '${address}',
  apiSecret: process.env.API_SECRET,
})
for await (const payment of client.payments.iterate())
  console.log(payment.txHash, payment.version, payment.state)
`

/** A receiver that verifies deliveries. */
export const receiverCode = `import { createServer } from 'node:http'
import { createVerifier, isWebhookRefusal, readBody } from '@payment-integration/webhook'

const { verify } = createVerifier({ secrets: process.env.WEBHOOK_SIGNING_SECRET })

createServer(async (request, response) => {
  try {
    const { snapshot } = await verify({ body: await readBody(request), headers: request.headers })
    console.log(snapshot.txHash, snapshot.version, snapshot.state) // store it here, once for each version
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(isWebhookRefusal(error) ? error.status : 500).end()
  }
}).listen(process.env.PORT)
`
