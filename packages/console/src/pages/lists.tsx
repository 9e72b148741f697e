/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The lists of payments and of deliveries. @module */
import { paymentStates } from '@payment-integration/contract'
import type { ConsolePage, ConsolePosition, DeliveryView, StoredPayment } from '@payment-integration/core/ports'
import { deliveryStatuses, type Given, positionText } from '../filters.js'
import type { Found } from '../search.js'
import type { ConsoleTools } from '../tools/tools.js'
import { TestPayment } from '../tools/tools-page.js'
import { type Field, Filters } from '../view/form.js'
import { Copyable, Empty, hrefOf, Pager, Shown, Table } from '../view/parts.js'
import { DeliveryRow, deliveryColumns, PaymentRow, paymentColumns } from '../view/rows.js'
import { shortHex, shownText } from '../view/text.js'
import { ReplayManyLink } from './replay-many.js'

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
