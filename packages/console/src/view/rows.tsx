/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Rows of payments and deliveries; live pages replace them by their key. @module */
import { answerText } from '@payment-integration/core'
import type { DeliveryView, StoredPayment } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { Badge, Cell, type Column, Hex, hrefOf, paymentHref, Shown, Status, When } from './parts.js'
import { latencyOf, memoOf, unitsOf } from './text.js'

/** Columns of {@link PaymentRow}. */
export const paymentColumns: readonly Column[] = [
  { title: 'State' },
  { title: 'Time' },
  { title: 'Transaction' },
  { title: 'Chain', isNumber: true },
  { title: 'Received', isNumber: true },
  { title: 'Invoice', isNumber: true },
  { title: 'Memo' },
  { title: 'Integration' },
  { title: 'Version', isNumber: true },
]

/** A number as text that sorts as it does. */
const ordinal = (number: number | string) => String(number).padStart(16, '0')

/** Sorts as lists of payments do, descending. */
const paymentOrder = ({ blockTimestamp, chainId, txHash }: StoredPayment) =>
  `${ordinal(blockTimestamp)}.${ordinal(chainId)}.${txHash}`

/** One payment. */
export function PaymentRow({ payment }: { payment: StoredPayment }) {
  const { chainId, tokenOut, invoice, integrationAddress } = payment
  return (
    <tr data-key={`p${payment.id}`} data-order={paymentOrder(payment)}>
      <Cell of="State">
        <Badge word={payment.state ?? 'none'} />
        {payment.offChain ? <Badge word="off the chain" tone="bad" /> : null}
      </Cell>
      <Cell of="Time">
        <When at={payment.blockTimestamp} withDate />
      </Cell>
      <Cell of="Transaction">
        <Hex value={payment.txHash} href={paymentHref(payment)} />
      </Cell>
      <Cell of="Chain" isNumber>
        <a href={hrefOf('/payments', { chain: chainId })}>{chainId}</a>
      </Cell>
      <Cell of="Received" isNumber>
        {unitsOf(tokenOut.net, tokenOut.decimals)} <Shown text={tokenOut.symbol ?? ''} most={16} />
      </Cell>
      <Cell of="Invoice" isNumber>
        {invoice === null ? <span class="dim">none</span> : `${invoice.amount} ${invoice.currency}`}
      </Cell>
      <Cell of="Memo">
        <Shown text={memoOf(payment.memoHex)} most={34} />
      </Cell>
      <Cell of="Integration">
        {integrationAddress === null ? (
          <span class="dim">none</span>
        ) : (
          <Hex value={integrationAddress} href={hrefOf('/payments', { integration: integrationAddress })} />
        )}
      </Cell>
      <Cell of="Version" isNumber>
        {payment.version}
      </Cell>
    </tr>
  )
}

/** Columns of {@link DeliveryCells}. */
const sharedColumns: readonly Column[] = [
  { title: 'Status' },
  { title: 'Created' },
  { title: 'Payment' },
  { title: 'Version', isNumber: true },
  { title: 'Attempts', isNumber: true },
  { title: 'Last answer' },
  { title: 'Latency', isNumber: true },
  { title: 'Next attempt' },
]

/** Columns of a table of deliveries, which ends with one of its own. */
export const deliveryColumnsWith = (title: string): readonly Column[] => [...sharedColumns, { title }]

/** A delivery with its last attempt. @param href - The page of its payment. */
export function DeliveryCells({ delivery, href }: { delivery: DeliveryView; href: string }) {
  const { chainId, attempts, status, nextAttemptAt } = delivery
  const last = attempts.at(-1)
  return (
    <>
      <Cell of="Status">
        <Status status={status} />
      </Cell>
      <Cell of="Created">
        <When at={delivery.createdAt} withDate />
      </Cell>
      <Cell of="Payment">
        <Hex value={delivery.txHash} href={href} /> <span class="dim">on {chainId}</span>
      </Cell>
      <Cell of="Version" isNumber>
        {delivery.version}
      </Cell>
      <Cell of="Attempts" isNumber>
        {attempts.length}
      </Cell>
      <Cell of="Last answer">{last === undefined ? <span class="dim">not sent yet</span> : <Answer {...last} />}</Cell>
      <Cell of="Latency" isNumber>
        {last === undefined ? '' : latencyOf(last.latencyMs)}
      </Cell>
      <Cell of="Next attempt">
        {nextAttemptAt === null ? <span class="dim">none</span> : <When at={nextAttemptAt} />}
      </Cell>
    </>
  )
}

/** Columns of {@link DeliveryRow}. */
export const deliveryColumns: readonly Column[] = [...deliveryColumnsWith('Integration'), { title: 'Act' }]

/** One delivery of any integration. */
export function DeliveryRow({ delivery }: { delivery: DeliveryView }) {
  return (
    <tr data-key={`d${delivery.deliveryId}`} data-order={ordinal(delivery.deliveryId)}>
      <DeliveryCells delivery={delivery} href={paymentHref(delivery)} />
      <Cell of="Integration">
        <Hex
          value={delivery.integrationAddress}
          href={hrefOf('/deliveries', { integration: delivery.integrationAddress })}
        />
      </Cell>
      <Cell of="Act">
        {delivery.status === 'pending' ? null : (
          <a href={`${paymentHref(delivery)}#d${delivery.deliveryId}`}>Replay…</a>
        )}
      </Cell>
    </tr>
  )
}

/** The answer of an attempt: its HTTP status, why there is none, or both for a malformed one. */
export function Answer({ status, reason }: { status: number | null; reason: string | null }) {
  const word = answerText({ status, reason }).replaceAll('_', ' ')
  return <span class={reason === null ? 'answer good' : 'answer bad'}>{word}</span>
}

/** Rows of `Facts`: received, paid and invoice. */
export function amountFacts({ tokenIn, tokenOut, invoice, source }: StoredPayment): (readonly [string, Child])[] {
  return [
    [
      'Received',
      <>
        {unitsOf(tokenOut.net, tokenOut.decimals)} <Shown text={tokenOut.symbol ?? ''} most={16} /> net,{' '}
        {unitsOf(tokenOut.gross, tokenOut.decimals)} gross
      </>,
    ],
    [
      'Paid',
      <>
        {unitsOf(tokenIn.amount, tokenIn.decimals)} <Shown text={tokenIn.symbol ?? ''} most={16} /> on chain{' '}
        {source.chainId}
      </>,
    ],
    [
      'Invoice',
      invoice === null
        ? 'none'
        : `${invoice.amount} ${invoice.currency}, settled as ${invoice.settlementAmount} ${invoice.settlementCurrency}`,
    ],
  ]
}
