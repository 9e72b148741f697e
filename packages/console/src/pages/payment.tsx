/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One payment: its facts, one time line, and its snapshots. @module */
import type { ConsoleUpdate, DeliveryView, StoredPayment } from '@payment-integration/core/ports'
import { amountFacts } from '../view/amount-facts.js'
import { Badge, type FactRow, Facts, Hex, hrefOf, Shown } from '../view/parts.js'
import { memoOf } from '../view/text.js'
import { PaymentDeliveries } from './payment-deliveries.js'
import { Repeat } from './repeat.js'
import { Signature } from './signature.js'
import { Snapshots } from './snapshots.js'
import type { Compared } from './snapshots-of.js'
import { type Snapshot, timelineOf } from './timeline.js'
import { TimelineEntry } from './timeline-view.js'

/** A payment with everything that is stored about it. */
export interface PaymentDetail {
  readonly payment: StoredPayment
  /** Other payments of its transaction. */
  readonly others: readonly StoredPayment[]
  readonly snapshots: readonly Snapshot[]
  readonly updates: readonly ConsoleUpdate[]
  readonly deliveries: readonly DeliveryView[]
  readonly compare: Compared
  /** The chain's own notation of its transaction hash; null: it has none. */
  readonly nativeHash: string | null
  /** Where its integration is notified; null: nowhere. */
  readonly notificationUrl: string | null
  readonly now: number
}

/** The page. */
export function PaymentPage(detail: PaymentDetail) {
  const { payment, snapshots, updates, deliveries, notificationUrl, now } = detail
  const last = deliveries.flatMap((each) => each.attempts.slice(-1).map((attempt) => ({ ...attempt, of: each }))).at(-1)
  const signed = snapshots.find(({ version }) => version === last?.of.version)
  return (
    <>
      <h1>
        Payment <Hex value={payment.txHash} /> <Badge word={payment.state ?? 'none'} />
      </h1>
      {payment.offChain ? (
        <p class="note bad">Its block left the chain, and no later block contains it so far.</p>
      ) : null}
      <PaymentFacts payment={payment} nativeHash={detail.nativeHash} />
      {detail.others.length === 0 ? null : (
        <p class="note">
          Its transaction has {detail.others.length} more payment{detail.others.length > 1 ? 's' : ''}; the legacy
          look-up shows all of them.
        </p>
      )}
      <h2>Time line</h2>
      <ol class="timeline">
        {timelineOf(payment, snapshots, updates, deliveries).map((entry) => (
          <TimelineEntry entry={entry} payment={payment} />
        ))}
      </ol>
      {deliveries.length === 0 ? (
        <p class="dim">
          No delivery:{' '}
          {payment.integrationAddress === null
            ? 'the payment names no integration'
            : 'its integration had no notification URL'}
          .
        </p>
      ) : null}
      <PaymentDeliveries deliveries={deliveries} />
      <Snapshots {...detail} />
      {signed === undefined || last === undefined ? null : (
        <>
          <Signature snapshot={signed} startedAt={last.startedAt} now={now} />
          <Repeat delivery={{ ...last.of, text: signed.text, url: notificationUrl }} />
        </>
      )}
    </>
  )
}

/** A row of a chain whose hashes are not 0x hex. */
const nativeRow = (hash: string): FactRow => [
  'On its chain',
  <code class="whole">
    <Shown text={hash} />
  </code>,
  'wide',
]

function PaymentFacts({ payment, nativeHash }: Pick<PaymentDetail, 'payment' | 'nativeHash'>) {
  const { recipient, source, integrationAddress } = payment
  return (
    <Facts
      rows={[
        ['Transaction', <code class="whole">{payment.txHash}</code>, 'wide'],
        ...(nativeHash === null ? [] : [nativeRow(nativeHash)]),
        ['Source', <code class="whole">{source.txHash}</code>, 'wide'],
        ['Chain', <a href={hrefOf('/payments', { chain: payment.chainId })}>{payment.chainId}</a>],
        ['Version', payment.version],
        ...amountFacts(payment),
        [
          'Recipient',
          recipient === null ? (
            'none'
          ) : (
            <>
              <Shown text={recipient.title} />{' '}
              <span class="dim">
                <Shown text={recipient.subtitle ?? ''} />
              </span>
            </>
          ),
        ],
        ['Memo', <Shown text={memoOf(payment.memoHex)} />],
        ['Sender', <Hex value={payment.sender} href={hrefOf('/payments', { q: payment.sender })} />],
        ['Receiver', <Hex value={payment.receiver} href={hrefOf('/payments', { q: payment.receiver })} />],
        [
          'Integration',
          integrationAddress === null ? (
            'none'
          ) : (
            <Hex value={integrationAddress} href={hrefOf('/payments', { integration: integrationAddress })} />
          ),
        ],
      ]}
    />
  )
}
