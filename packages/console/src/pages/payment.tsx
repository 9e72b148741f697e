/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One payment: facts, time line, deliveries with their replays, and snapshots. @module */
import { type DeliveryView, parseMemo } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { ActForm, ForRole } from '../view/forms.js'
import type { FactRow } from '../view/parts.js'
import { Badge, buildHref, Dim, Facts, Hex, paymentHref, Shown, sentencePage, Table, When } from '../view/parts.js'
import type { DeliveryContext } from '../view/rows.js'
import { amountFacts, labelReplay, showIntegration, showLastAnswer, showNextAttempt } from '../view/rows.js'
import { nameChain } from '../view/text.js'
import { buildTopic, describeIndexed, findIntegration, type Load } from './page.js'
import { Repeat } from './repeat.js'
import { Signature } from './signature.js'
import { parseCompared, readSnapshot, type Snapshot, Snapshots, shownVersions } from './snapshots.js'
import { Timeline } from './timeline.js'

const maxUpdates = 200

export function parseTransaction(name: string): { readonly chainId: number; readonly txHash: string } | null {
  const [, chain = '', hash] = /^(\d{1,15})\/(0x[0-9a-f]{64})$/i.exec(name) ?? []
  return hash === undefined ? null : { chainId: Number(chain), txHash: hash.toLowerCase() }
}

export const paymentPage: Load = async ({ service, sampler, now }, query, name) => {
  const transaction = parseTransaction(name)
  if (transaction === null) return null
  const { queries, indexers } = service
  const payments = await queries.transaction(transaction)
  const payment = payments.find(({ primary }) => primary) ?? payments[0]
  if (payment === undefined) {
    const followed = indexers.filter((each) => each.chainId === transaction.chainId)
    const indexed =
      followed.length === 0 ? `chain ${nameChain(transaction.chainId)} is not followed` : describeIndexed(followed)
    const text = `No payment with this hash; ${indexed}.`
    return { ...sentencePage('Payment not found', text, { section: '/payments' }), status: 404 }
  }
  const { chainId, txHash } = transaction
  const compare = parseCompared(query)
  const [stored, integration, updates, deliveries, { endpoints }] = await Promise.all([
    queries.snapshots(payment.id, shownVersions(payment, compare)),
    findIntegration(service, payment.integrationAddress ?? ''),
    queries.updates({ paymentIds: payments.map(({ id }) => id), limit: maxUpdates }),
    queries.deliveriesByPayment(payment.id),
    sampler.overview(),
  ])
  const snapshots = stored.map(readSnapshot)
  const context = { now: now(), endpoints }
  const nativeHash = indexers.find((each) => each.chainId === chainId)?.nativeHash(txHash) ?? null
  const others = payments.length - 1
  const signed = lastSigned(snapshots, deliveries)
  const body = (
    <>
      <PaymentTitle payment={payment} />
      <Facts rows={buildFacts(payment)} />
      {others === 0 ? null : (
        <p class="note">
          Its transaction has {others} more payment{others > 1 ? 's' : ''}; the legacy look-up shows all of them.
        </p>
      )}
      <h2>Notifications</h2>
      {deliveries.length === 0 ? (
        <p class="dim">
          No delivery:{' '}
          {payment.integrationAddress === null
            ? 'the payment names no integration'
            : 'its integration had no notification URL'}
          .
        </p>
      ) : (
        <Deliveries deliveries={deliveries} context={context} />
      )}
      <Timeline {...{ payment, snapshots, updates, deliveries, context }} />
      {updates.length < maxUpdates ? null : <p class="dim">Only the first {maxUpdates} updates are shown.</p>}
      <Identifiers {...{ payment, nativeHash }} />
      <Snapshots {...{ payment, snapshots, compare }} action={paymentHref(payment)} />
      {signed === null ? null : (
        <>
          <Signature {...signed} now={now()} />
          <Repeat
            delivery={{ ...signed.delivery, text: signed.snapshot.text, url: integration?.notificationUrl ?? null }}
          />
        </>
      )}
    </>
  )
  const live = buildTopic('payment', { chain: String(chainId), hash: txHash })
  return { title: `Payment ${txHash.slice(0, 10)}`, section: '/payments', body, live }
}

export const PaymentTitle = ({ payment }: { payment: StoredPayment }) => (
  <>
    <h1>
      Payment <Hex value={payment.txHash} /> <Badge word={payment.state ?? 'no state'} />
    </h1>
    {payment.offChain ? <p class="note bad">Its block left the chain, and no later block contains it so far.</p> : null}
  </>
)

/** The newest attempted delivery, with its snapshot and the time of its last attempt; null: none was attempted. */
export function lastSigned(snapshots: readonly Snapshot[], deliveries: readonly DeliveryView[]) {
  const delivery = deliveries.findLast(({ attempts }) => attempts.length > 0)
  const snapshot = snapshots.find(({ version }) => version === delivery?.version)
  const startedAt = delivery?.attempts.at(-1)?.startedAt
  if (delivery === undefined || snapshot === undefined || startedAt === undefined) return null
  return { delivery, snapshot, startedAt }
}

function buildFacts(payment: StoredPayment): readonly FactRow[] {
  const { recipient, chainId } = payment
  const showWallet = (wallet: string) => <Hex value={wallet} href={buildHref('/payments', { q: wallet })} />
  return [
    ...amountFacts(payment),
    ['Block time', <When at={payment.blockTimestamp} withDate />],
    ['Chain', <a href={buildHref('/payments', { chain: chainId })}>{nameChain(chainId)}</a>],
    ['Version', payment.version],
    [
      'Recipient',
      recipient === null ? (
        'none'
      ) : (
        <>
          <Shown text={recipient.title} />{' '}
          <Dim>
            <Shown text={recipient.subtitle ?? ''} />
          </Dim>
        </>
      ),
    ],
    ['Memo', <Shown text={parseMemo(payment.memoHex)} />],
    ['Sender', showWallet(payment.sender)],
    ['Receiver', showWallet(payment.receiver)],
    ['Integration', showIntegration(payment.integrationAddress, 'none')],
  ]
}

/** The hashes of a payment. @param nativeHash - The chain's own form, where hashes are not 0x hex. */
export const Identifiers = ({ payment, nativeHash }: { payment: StoredPayment; nativeHash?: string | null }) => (
  <>
    <h2>Identifiers</h2>
    <Facts
      rows={[
        ['Transaction', <Hex value={payment.txHash} isWhole />, 'wide'],
        ...(nativeHash ? [['On its chain', <Hex value={nativeHash} isWhole />, 'wide'] satisfies FactRow] : []),
        ['Source transaction', <Hex value={payment.source.txHash} isWhole />, 'wide'],
      ]}
    />
  </>
)

const Deliveries = ({ deliveries, context }: { deliveries: readonly DeliveryView[]; context: DeliveryContext }) => (
  <Table
    label="Deliveries of this payment"
    rows={deliveries}
    attributes={({ deliveryId }) => ({ id: `d${deliveryId}` })}
    columns={[
      ['Version', ({ version }) => version],
      ['Status', ({ status }) => <Badge word={status} />],
      ['Created', ({ createdAt }) => <When at={createdAt} withDate />],
      ['Attempts', ({ attempts }) => attempts.length],
      ['Last answer', (delivery) => showLastAnswer(delivery)],
      ['Next attempt', (delivery) => showNextAttempt(delivery, context)],
      [
        'Act',
        (delivery) => (
          <ForRole needs="operator" otherwise={<Dim>needs the role operator</Dim>}>
            <ActForm act="replay" label={labelReplay(delivery)} needs="operator" fields={{ id: delivery.deliveryId }} />
          </ForRole>
        ),
      ],
    ]}
  />
)
