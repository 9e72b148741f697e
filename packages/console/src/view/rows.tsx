/** Rows and filters of payments and deliveries; live pages replace rows by key. @module */
import { paymentStates } from '@payment-integration/contract'
import type { ConsolePage, DeliveryView, EndpointView } from '@payment-integration/core/internal'
import { decodeMemo, formatAnswer, formatUnits } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { deliveryStatuses, type QueryFields } from '../filters.js'
import { type Field, Filters, integrationOption, type NamedAddress } from './forms.js'
import type { Column, RowProps } from './parts.js'
import { Badge, buildHref, Dim, Hex, Pager, paymentPath, Shown, Table, When } from './parts.js'
import { formatLatency, nameChain } from './text.js'

/** Formats a number as text that sorts like the number. */
const toSortKey = (number: number | string) => String(number).padStart(16, '0')

/** Builds links to pages of the console or of the portal. */
type ToHref = typeof buildHref

/** The columns of a list of payments. @param more - Further columns, placed before the last one. */
export const paymentColumns = (
  toHref: ToHref,
  more: readonly Column<StoredPayment>[] = [],
): readonly Column<StoredPayment>[] => [
  [
    'State',
    ({ state, offChain }) => (
      <>
        <Badge word={state ?? 'no state'} />
        {offChain ? <Badge word="off the chain" tone="bad" /> : null}
      </>
    ),
  ],
  ['Time', ({ blockTimestamp }) => <When at={blockTimestamp} withDate />],
  ['Transaction', (payment) => <Hex value={payment.txHash} href={toHref(paymentPath(payment))} />],
  ['Chain', ({ chainId }) => <a href={toHref('/payments', { chain: chainId })}>{nameChain(chainId)}</a>],
  ['Received', ({ tokenOut: { net, decimals, symbol } }) => showAmount(formatUnits(net, decimals), symbol), 'n'],
  ['Invoice', ({ invoice }) => showInvoice(invoice), 'n'],
  ['Memo', ({ memoHex }) => <Shown text={decodeMemo(memoHex)} max={34} />],
  ...more,
  ['Version', ({ version }) => version, 'n'],
]

/** The operators' list of payments. `data-order` sorts as the list does, descending. */
export const paymentRows: RowProps<StoredPayment> = {
  attributes: ({ id, blockTimestamp }) => ({
    'data-key': `p${id}`,
    'data-order': `${toSortKey(blockTimestamp)}.${toSortKey(id)}`,
  }),
  columns: paymentColumns(buildHref, [
    ['Integration', ({ integrationAddress }) => showIntegration(integrationAddress, <Dim>none</Dim>)],
  ]),
}

/** Adds a class by the text's length, with which the style sheet makes the texts of a column equally wide. */
const findClass = (name: string, { length }: string) =>
  `${name} fit${[3, 4, 6, 8, 12, 18].find((max) => max >= length) ?? 18}`

/** An amount with its token's symbol, which may be hostile. Amounts in a column align at the decimal point. */
export function showAmount(amount: string, symbol: string | null): Child {
  const [whole = '', fraction = ''] = amount.split('.')
  return (
    <span class="amount">
      {whole}
      <span class={findClass('fraction', fraction)}>{fraction && `.${fraction}`}</span>{' '}
      <span class={findClass('symbol', symbol ?? '')}>
        <Shown text={symbol ?? ''} max={16} />
      </span>
    </span>
  )
}

export const showInvoice = (invoice: { readonly amount: string; readonly currency: string } | null): Child =>
  invoice === null ? <Dim>none</Dim> : showAmount(invoice.amount, invoice.currency)

/** The integration of a payment, with a link to all of its payments. */
export const showIntegration = (address: string | null, none: Child): Child =>
  address === null ? none : <Hex value={address} href={buildHref('/payments', { integration: address })} />

export const attemptId = ({ deliveryId }: Pick<DeliveryView, 'deliveryId'>, number: number) =>
  `d${deliveryId}-${number}`

/** The answer to a delivery's last attempt, with a link to that attempt on the payment's page. */
function showLastAnswer(delivery: DeliveryView, toHref: ToHref): Child {
  const last = delivery.attempts.at(-1)
  if (last === undefined) return <Dim>not sent yet</Dim>
  return (
    <a href={`${toHref(paymentPath(delivery))}#${attemptId(delivery, delivery.attempts.length)}`}>
      <Answer {...last} />
    </a>
  )
}

export const replayPath = '/deliveries/replay'

/** Leads to the page that asks whether to replay a delivery. */
export const ReplayLink = ({ id, toHref }: { id: string; toHref: ToHref }) => (
  <a href={toHref(replayPath, { id })}>Replay…</a>
)

/** The current time, and the endpoints that fail, for the column of next attempts. */
export interface DeliveryContext {
  readonly now: number
  readonly endpoints: readonly Pick<EndpointView, 'integrationAddress' | 'blocks' | 'blockedUntil'>[]
}

/** Finds when a delivery is attempted next; null: never. A due delivery waits while its endpoint is blocked. */
export function findNextAttempt(delivery: DeliveryView, { now, endpoints }: DeliveryContext) {
  const { nextAttemptAt, integrationAddress } = delivery
  if (nextAttemptAt === null) return null
  const blocked = endpoints.find((one) => one.integrationAddress === integrationAddress && one.blocks > 0)
  const at = Math.max(nextAttemptAt, blocked?.blockedUntil ?? 0)
  if (at > nextAttemptAt) return { at, note: <Dim>endpoint blocked</Dim> }
  return { at, note: at > now ? null : 'due now' }
}

function showNextAttempt(delivery: DeliveryView, context: DeliveryContext): Child {
  const next = findNextAttempt(delivery, context)
  if (next === null) return <Dim>none</Dim>
  const { at, note } = next
  if (at <= context.now) return note
  return (
    <>
      <When at={at} /> {note}
    </>
  )
}

/** The columns of a list of deliveries. @param more - Further columns, placed before the last one. */
export const deliveryColumns = (
  toHref: ToHref,
  context: DeliveryContext,
  more: readonly Column<DeliveryView>[] = [],
): readonly Column<DeliveryView>[] => [
  ['Status', ({ status }) => <Badge word={status} />],
  ['Created', ({ createdAt }) => <When at={createdAt} withDate />],
  [
    'Payment',
    (delivery) => (
      <>
        <Hex value={delivery.txHash} href={toHref(paymentPath(delivery))} /> <Dim>{nameChain(delivery.chainId)}</Dim>
      </>
    ),
  ],
  ['Version', ({ version }) => version, 'n'],
  ['Attempts', ({ attempts }) => attempts.length, 'n'],
  ['Last answer', (delivery) => showLastAnswer(delivery, toHref)],
  [
    'Latency',
    ({ attempts }) => attempts.slice(-1).map(({ latencyMs }) => formatLatency(latencyMs))[0] ?? <Dim>none</Dim>,
    'n',
  ],
  ['Next attempt', (delivery) => showNextAttempt(delivery, context)],
  ...more,
  ['Replay', ({ deliveryId }) => <ReplayLink id={deliveryId} toHref={toHref} />],
]

export const deliveryRows = (context: DeliveryContext): RowProps<DeliveryView> => ({
  attributes: ({ deliveryId }) => ({ 'data-key': `d${deliveryId}`, 'data-order': toSortKey(deliveryId) }),
  columns: deliveryColumns(buildHref, context, [
    [
      'Integration',
      ({ integrationAddress: address }) => (
        <Hex value={address} href={buildHref('/deliveries', { integration: address })} />
      ),
    ],
  ]),
})

/** The deliveries of one payment. */
export function PaymentDeliveries(props: {
  readonly deliveries: readonly DeliveryView[]
  readonly context: DeliveryContext
  readonly toHref: ToHref
}) {
  const columns = deliveryColumns(props.toHref, props.context).filter(([title]) => title !== 'Payment')
  return <Table label="Deliveries of this payment" rows={props.deliveries} columns={columns} />
}

interface FilteredListProps<Row> extends RowProps<Row>, ConsolePage<Row, string> {
  readonly title: string
  readonly toHref: ToHref
  /** The path of the list. */
  readonly section: string
  readonly fields: readonly Field[]
  /** The fields in the URL, without the position. */
  readonly values: QueryFields
  /** The parameter with the position of a page, and its value on this page. */
  readonly position: readonly [name: string, value: string | undefined]
  /** How many rows one page examines at most, such as `5,000 payments`. */
  readonly examined: string
  readonly empty: Child
  readonly children?: Child
}

/** A list with its filter form and its pages; the children stand above its rows. */
export function FilteredList<Row>({ title, toHref, section, fields, values, ...list }: FilteredListProps<Row>) {
  const [name, value] = list.position
  return (
    <>
      <h1>{title}</h1>
      <Filters action={toHref(section)} fields={fields} values={values} />
      {list.children}
      <Table {...list} label={title} id="rows" />
      <Pager
        first={value === undefined ? null : toHref(section, values)}
        next={list.next === null ? null : toHref(section, { ...values, [name]: list.next })}
        cut={list.isCut ? `${list.examined} were examined.` : null}
      />
    </>
  )
}

export function Answer({ status, reason }: { status: number | null; reason: string | null }) {
  const word = formatAnswer({ status, reason }).replaceAll('_', ' ')
  return <span class={reason === null ? 'answer good' : 'answer bad'}>{word}</span>
}

export interface Choices {
  readonly chainIds: readonly number[]
  readonly integrations: readonly NamedAddress[]
}

const wordOptions = (values: readonly string[]) => values.map((value) => [value, value.replaceAll('_', ' ')] as const)

export const stateField: Field = {
  name: 'state',
  label: 'State',
  options: [...wordOptions(paymentStates), ['none', 'no state']],
}

export const timeFields: readonly Field[] = [
  { name: 'since', label: 'Since (UTC)', type: 'datetime-local' },
  { name: 'until', label: 'Until (UTC)', type: 'datetime-local' },
]

export const deliveryFields: readonly Field[] = [
  { name: 'hash', label: 'Transaction', hint: '0x…', type: 'search' },
  { name: 'status', label: 'Status', options: wordOptions(deliveryStatuses) },
]

export function listFields(
  { chainIds, integrations }: Choices,
  fields: QueryFields,
  withNone: boolean,
): readonly Field[] {
  const { chain } = fields
  const chains = [...new Set(chain === undefined ? chainIds : [...chainIds, Number(chain)])]
  const chosen = fields['integration']?.toLowerCase()
  const isListed = chosen === undefined || chosen === 'none' || integrations.some(({ address }) => address === chosen)
  const all = isListed ? integrations : [...integrations, { address: chosen, name: '' }]
  const addresses = all.map(integrationOption)
  return [
    { name: 'chain', label: 'Chain', options: chains.map((id) => [String(id), nameChain(id)] as const) },
    {
      name: 'integration',
      label: 'Integration',
      options: withNone ? [...addresses, ['none', 'none'] as const] : addresses,
    },
    ...timeFields,
  ]
}

export function amountFacts({ tokenIn, tokenOut, invoice, source }: StoredPayment): (readonly [string, Child])[] {
  const { net, gross, decimals, symbol } = tokenOut
  const settled = invoice && `settled as ${invoice.settlementAmount} ${invoice.settlementCurrency}`
  return [
    [
      'Received',
      <>
        {showAmount(formatUnits(net, decimals), symbol)} net, {formatUnits(gross, decimals)} gross
      </>,
    ],
    [
      'Paid',
      <>
        {showAmount(formatUnits(tokenIn.amount, tokenIn.decimals), tokenIn.symbol)} on chain {nameChain(source.chainId)}
      </>,
    ],
    ['Invoice', invoice === null ? 'none' : `${invoice.amount} ${invoice.currency}, ${settled}`],
  ]
}
