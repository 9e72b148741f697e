/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One payment of the integration: facts, time line, snapshots, and the signature explained. @module */
import type { StoredPayment } from '@payment-integration/core/ports'
import { Signature } from '../pages/signature.js'
import type { Compared } from '../pages/snapshots.js'
import { Snapshots } from '../pages/snapshots.js'
import { TimelineEntry, timelineOf } from '../pages/timeline.js'
import { Badge, Facts, Hex, paymentPath, Shown } from '../view/parts.js'
import { amountFacts } from '../view/rows.js'
import { memoOf } from '../view/text.js'
import { PortalForm, portalHref } from './page.js'
import type { TenantPayment } from './tenant.js'

/** Content of the page. */
export interface OwnPaymentProps extends TenantPayment {
  readonly compare: Compared
  readonly now: number
}

/** The page. */
export function OwnPaymentPage({ payment, snapshots, deliveries, compare, now }: OwnPaymentProps) {
  const last = deliveries
    .flatMap((each) => each.attempts.slice(-1).map((attempt) => ({ ...attempt, of: each.version })))
    .at(-1)
  const signed = snapshots.find(({ version }) => version === last?.of)
  return (
    <>
      <h1>
        Payment <Hex value={payment.txHash} /> <Badge word={payment.state ?? 'none'} />
      </h1>
      {payment.offChain ? (
        <p class="note bad">Its block left the chain, and no later block contains it so far.</p>
      ) : null}
      <OwnFacts payment={payment} />
      <h2>Time line</h2>
      <ol class="timeline">
        {timelineOf(payment, snapshots, [], deliveries).map((entry) => (
          <TimelineEntry entry={entry} payment={payment} />
        ))}
      </ol>
      {deliveries.length === 0 ? (
        <p class="dim">
          No delivery: there was no notification URL when its version was made. Set one at{' '}
          <a href={portalHref('/endpoint')}>Endpoint</a>.
        </p>
      ) : null}
      <div class="acts">
        {deliveries.map(({ deliveryId, version }) => (
          <PortalForm act="replay" label={`Replay version ${version}`} fields={{ id: deliveryId }} />
        ))}
      </div>
      <Snapshots {...{ payment, snapshots, compare }} action={portalHref(paymentPath(payment))} />
      {signed === undefined || last === undefined ? null : (
        <Signature snapshot={signed} startedAt={last.startedAt} now={now} />
      )}
    </>
  )
}

function OwnFacts({ payment }: { payment: StoredPayment }) {
  const { recipient, source } = payment
  const walletOf = (wallet: string) => <Hex value={wallet} href={portalHref('/payments', { wallet })} />
  return (
    <Facts
      rows={[
        ['Transaction', <code class="whole">{payment.txHash}</code>, 'wide'],
        ['Source', <code class="whole">{source.txHash}</code>, 'wide'],
        ['Chain', payment.chainId],
        ['Version', payment.version],
        ...amountFacts(payment),
        ['Recipient', recipient === null ? 'none' : <Shown text={recipient.title} />],
        ['Memo', <Shown text={memoOf(payment.memoHex)} />],
        ['Sender', walletOf(payment.sender)],
        ['Receiver', walletOf(payment.receiver)],
      ]}
    />
  )
}
