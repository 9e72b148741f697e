/** One payment: facts, deliveries, time line, and snapshots. @module */
import { type ConsoleUpdate, type DeliveryView, decodeMemo } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import type { FactRow } from '../view/parts.js'
import { Badge, buildHref, Dim, Facts, Hex, paymentPath, Shown, sentencePage, When } from '../view/parts.js'
import { amountFacts, type DeliveryContext, PaymentDeliveries, showIntegration } from '../view/rows.js'
import { nameChain } from '../view/text.js'
import { buildTopic, describeIndexed, findIntegration, type Load } from './page.js'
import { Repeat } from './repeat.js'
import { Signature } from './signature.js'
import { type Compared, listShownVersions, parseCompared, readSnapshot, type Snapshot, Snapshots } from './snapshots.js'
import { Timeline } from './timeline.js'

const maxUpdates = 200

export function parseTransaction(name: string): { readonly chainId: number; readonly txHash: string } | null {
  const [, chain = '', hash] = /^(\d{1,15})\/(0x[0-9a-f]{64})$/i.exec(name) ?? []
  return hash === undefined ? null : { chainId: Number(chain), txHash: hash.toLowerCase() }
}

export const paymentPage: Load = async ({ service, sampler, clock }, query, name) => {
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
    queries.snapshots(payment.id, listShownVersions(payment, compare)),
    findIntegration(service, payment.integrationAddress ?? ''),
    queries.updates({ paymentIds: payments.map(({ id }) => id), limit: maxUpdates }),
    queries.deliveriesByPayment(payment.id),
    sampler.overview(),
  ])
  const snapshots = stored.map(readSnapshot)
  const others = payments.length - 1
  const signed = findLastSigned(snapshots, deliveries)
  const namesIntegration = payment.integrationAddress !== null
  const body = (
    <>
      <PaymentContent
        {...{ payment, snapshots, updates, deliveries, compare, toHref: buildHref }}
        context={{ now: clock.now(), endpoints }}
        more={[['Integration', showIntegration(payment.integrationAddress, 'none')]]}
        noDelivery={namesIntegration ? 'its integration had no notification URL' : 'the payment names no integration'}
        nativeHash={indexers.find((each) => each.chainId === chainId)?.nativeHash(txHash) ?? null}
      >
        {others === 0 ? null : (
          <p class="note">
            Its transaction has {others} more payment{others > 1 ? 's' : ''}; the legacy look-up shows all of them.
          </p>
        )}
        {updates.length < maxUpdates ? null : <p class="dim">Only the first {maxUpdates} updates are shown.</p>}
      </PaymentContent>
      {signed === null ? null : (
        <Repeat
          delivery={{ ...signed.delivery, text: signed.snapshot.text, url: integration?.notificationUrl ?? null }}
        />
      )}
    </>
  )
  const live = buildTopic('payment', { chain: String(chainId), hash: txHash })
  return { title: `Payment ${txHash.slice(0, 10)}`, section: '/payments', body, live }
}

interface PaymentContentProps {
  readonly payment: StoredPayment
  readonly snapshots: readonly Snapshot[]
  readonly updates: readonly ConsoleUpdate[]
  readonly deliveries: readonly DeliveryView[]
  readonly compare: Compared
  readonly context: DeliveryContext
  readonly toHref: typeof buildHref
  /** Facts for operators alone. */
  readonly more?: readonly FactRow[]
  /** Why there is no delivery, if there is none. */
  readonly noDelivery: Child
  /** The hash in the chain's own form, where hashes are not 0x hex. */
  readonly nativeHash?: string | null
  readonly children?: Child
}

/** A payment on the page of an operator or of its integration. The children stand below its facts. */
export function PaymentContent({ payment, snapshots, updates, deliveries, ...props }: PaymentContentProps) {
  const { compare, context, toHref, more = [], noDelivery, nativeHash, children } = props
  const signed = findLastSigned(snapshots, deliveries)
  return (
    <>
      <h1>
        Payment <Hex value={payment.txHash} /> <Badge word={payment.state ?? 'no state'} />
      </h1>
      {payment.offChain ? (
        <p class="note bad">Its block left the chain, and no later block contains the payment so far.</p>
      ) : null}
      <Facts rows={[...buildFacts(payment, toHref), ...more]} />
      {children}
      <h2>Deliveries</h2>
      {deliveries.length === 0 ? (
        <p class="dim">No delivery: {noDelivery}.</p>
      ) : (
        <PaymentDeliveries {...{ deliveries, context, toHref }} />
      )}
      <Timeline {...{ payment, snapshots, updates, deliveries, context }} />
      <h2>Identifiers</h2>
      <Facts
        rows={[
          ['Transaction', <Hex value={payment.txHash} isWhole />, 'wide'],
          ...(nativeHash ? [['On its chain', <Hex value={nativeHash} isWhole />, 'wide'] satisfies FactRow] : []),
          ['Source transaction', <Hex value={payment.source.txHash} isWhole />, 'wide'],
        ]}
      />
      <Snapshots {...{ payment, snapshots, compare }} action={toHref(paymentPath(payment))} />
      {signed === null ? null : <Signature {...signed} now={context.now} />}
    </>
  )
}

/** The newest attempted delivery, with its snapshot and the time of its last attempt; null: there is none. */
function findLastSigned(snapshots: readonly Snapshot[], deliveries: readonly DeliveryView[]) {
  const delivery = deliveries.findLast(({ attempts }) => attempts.length > 0)
  const snapshot = snapshots.find(({ version }) => version === delivery?.version)
  const startedAt = delivery?.attempts.at(-1)?.startedAt
  if (delivery === undefined || snapshot === undefined || startedAt === undefined) return null
  return { delivery, snapshot, startedAt }
}

function buildFacts(payment: StoredPayment, toHref: typeof buildHref): readonly FactRow[] {
  const { recipient, chainId } = payment
  const showWallet = (wallet: string) => <Hex value={wallet} href={toHref('/payments', { q: wallet })} />
  return [
    ...amountFacts(payment),
    ['Block time', <When at={payment.blockTimestamp} withDate />],
    ['Chain', <a href={toHref('/payments', { chain: chainId })}>{nameChain(chainId)}</a>],
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
    ['Memo', <Shown text={decodeMemo(payment.memoHex)} />],
    ['Sender', showWallet(payment.sender)],
    ['Receiver', showWallet(payment.receiver)],
  ]
}
