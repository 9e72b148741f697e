/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One payment: its facts, one time line, its deliveries with their replays, and its snapshots. @module */
import type { ConsoleUpdate, DeliveryView, StoredPayment } from '@payment-integration/core/ports'
import { ActForm, ForRole } from '../view/forms.js'
import {
  Badge,
  Cell,
  type FactRow,
  Facts,
  Hex,
  hrefOf,
  paymentPath,
  Shown,
  Status,
  Table,
  When,
} from '../view/parts.js'
import { Answer, amountFacts } from '../view/rows.js'
import { memoOf } from '../view/text.js'
import type { Act } from './page.js'
import { Repeat } from './repeat.js'
import { Signature } from './signature.js'
import { type Compared, type Snapshot, Snapshots } from './snapshots.js'
import { TimelineEntry, timelineOf } from './timeline.js'

/** A payment with everything that is stored about it. */
interface PaymentDetail {
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

const titles = ['Version', 'Status', 'Created', 'Attempts', 'Last answer', 'Next attempt', 'Act']

/** The table; nothing without deliveries. */
function PaymentDeliveries({ deliveries }: { deliveries: readonly DeliveryView[] }) {
  if (deliveries.length === 0) return null
  return (
    <>
      <h2>Deliveries</h2>
      <Table label="Deliveries of this payment" columns={titles.map((title) => ({ title }))}>
        {deliveries.map((delivery) => (
          <DeliveryActs delivery={delivery} />
        ))}
      </Table>
    </>
  )
}

function DeliveryActs({ delivery }: { delivery: DeliveryView }) {
  const { deliveryId, version, status, createdAt, attempts, nextAttemptAt } = delivery
  const last = attempts.at(-1)
  return (
    <tr id={`d${deliveryId}`}>
      <Cell of="Version">{version}</Cell>
      <Cell of="Status">
        <Status status={status} />
      </Cell>
      <Cell of="Created">
        <When at={createdAt} withDate />
      </Cell>
      <Cell of="Attempts">{attempts.length}</Cell>
      <Cell of="Last answer">{last === undefined ? <span class="dim">not sent yet</span> : <Answer {...last} />}</Cell>
      <Cell of="Next attempt">
        {nextAttemptAt === null ? <span class="dim">none</span> : <When at={nextAttemptAt} />}
      </Cell>
      <Cell of="Act">
        <ForRole needs="operator" otherwise={<span class="dim">needs the role operator</span>}>
          <ActForm act="replay" label={`Replay version ${version}`} needs="operator" fields={{ id: deliveryId }} />
        </ForRole>
      </Cell>
    </tr>
  )
}

/** Field `id`: the delivery's id. Leads to its payment. */
export const replayAct: Act = {
  needs: 'operator',
  async run({ fields, commands }) {
    const delivery = await commands.deliveries.replay(fields['id'] ?? '')
    return { to: paymentPath(delivery), note: 'replayed' }
  },
}
