/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One payment of the integration: facts, time line, snapshots, and the signature explained. @module */
import { lastSigned, PaymentTitle, parseTransaction } from '../pages/payment.js'
import { Signature } from '../pages/signature.js'
import { parseCompared, Snapshots } from '../pages/snapshots.js'
import { Timeline } from '../pages/timeline.js'
import { Facts, Hex, paymentPath, Shown } from '../view/parts.js'
import { amountFacts } from '../view/rows.js'
import { formatMemo } from '../view/text.js'
import { PortalForm, type PortalLoad, portalHref } from './page.js'

/** The page. */
export const paymentPage: PortalLoad = async ({ tenant, now }, query, name) => {
  const transaction = parseTransaction(name)
  if (transaction === null) return null
  const compare = parseCompared(query)
  const found = await tenant.payment(transaction.chainId, transaction.txHash, compare)
  if (found === null) return null
  const { payment, deliveries, snapshots } = found
  const signed = lastSigned(snapshots, deliveries)
  const showWallet = (wallet: string) => <Hex value={wallet} href={portalHref('/payments', { wallet })} />
  const body = (
    <>
      <PaymentTitle payment={payment} />
      <Facts
        rows={[
          ['Transaction', <code class="whole">{payment.txHash}</code>, 'wide'],
          ['Source', <code class="whole">{payment.source.txHash}</code>, 'wide'],
          ['Chain', payment.chainId],
          ['Version', payment.version],
          ...amountFacts(payment),
          ['Recipient', payment.recipient === null ? 'none' : <Shown text={payment.recipient.title} />],
          ['Memo', <Shown text={formatMemo(payment.memoHex)} />],
          ['Sender', showWallet(payment.sender)],
          ['Receiver', showWallet(payment.receiver)],
        ]}
      />
      <Timeline payment={payment} snapshots={snapshots} deliveries={deliveries} />
      {deliveries.length === 0 ? (
        <p class="dim">
          No delivery: there was no notification URL when its version was made. Set one at{' '}
          <a href={portalHref('/endpoint')}>Endpoint</a>.
        </p>
      ) : null}
      <div class="acts">
        {deliveries.map(({ deliveryId: id, version }) => (
          <PortalForm act="replay" label={`Replay version ${version}`} fields={{ id }} />
        ))}
      </div>
      <Snapshots {...found} compare={compare} action={portalHref(paymentPath(payment))} />
      {signed === null ? null : <Signature {...signed} now={now()} />}
    </>
  )
  return { title: `Payment ${transaction.txHash.slice(0, 10)}`, section: '/payments', body }
}
