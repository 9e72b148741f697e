/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** One payment of the integration: facts, time line, snapshots, and the signature explained. @module */
import { parseMemo } from '@payment-integration/core/internal'
import { Identifiers, lastSigned, PaymentTitle, parseTransaction } from '../pages/payment.js'
import { Signature } from '../pages/signature.js'
import { parseCompared, Snapshots } from '../pages/snapshots.js'
import { Timeline } from '../pages/timeline.js'
import { Facts, Hex, paymentPath, Shown, sentencePage, When } from '../view/parts.js'
import { amountFacts } from '../view/rows.js'
import { nameChain } from '../view/text.js'
import { DeliveryTable, readContext } from './deliveries.js'
import { type PortalLoad, portalHref } from './page.js'

const section = '/payments'
/** Says nothing of other integrations: an unknown hash and a payment of theirs get the same answer. */
const unknown = 'No payment with this hash names your integration. It appears once its block is indexed.'

export const paymentPage: PortalLoad = async ({ tenant, now }, query, name) => {
  const transaction = parseTransaction(name)
  if (transaction === null) return null
  const compare = parseCompared(query)
  const detail = await tenant.payment(transaction.chainId, transaction.txHash, compare)
  if (detail === null)
    return { ...sentencePage('Payment not found', unknown, { section, home: portalHref('') }), status: 404 }
  const { payment, deliveries, snapshots } = detail
  const signed = lastSigned(snapshots, deliveries)
  const context = await readContext({ tenant, now })
  const showWallet = (wallet: string) => <Hex value={wallet} href={portalHref('/payments', { wallet })} />
  const body = (
    <>
      <PaymentTitle payment={payment} />
      <Facts
        rows={[
          ...amountFacts(payment),
          ['Block time', <When at={payment.blockTimestamp} withDate />],
          ['Chain', nameChain(payment.chainId)],
          ['Version', payment.version],
          ['Recipient', payment.recipient === null ? 'none' : <Shown text={payment.recipient.title} />],
          ['Memo', <Shown text={parseMemo(payment.memoHex)} />],
          ['Sender', showWallet(payment.sender)],
          ['Receiver', showWallet(payment.receiver)],
        ]}
      />
      {deliveries.length === 0 ? (
        <p class="dim">
          No delivery: there was no notification URL when its version was made. Set one at{' '}
          <a href={portalHref('/endpoint')}>Endpoint</a>.
        </p>
      ) : null}
      {deliveries.length === 0 ? null : <h2>Notifications</h2>}
      <DeliveryTable deliveries={deliveries} context={context} empty={null} />
      <Timeline {...{ payment, snapshots, deliveries, context }} />
      <Identifiers payment={payment} />
      <Snapshots {...detail} compare={compare} action={portalHref(paymentPath(payment))} />
      {signed === null ? null : <Signature {...signed} now={now()} />}
    </>
  )
  return { title: `Payment ${transaction.txHash.slice(0, 10)}`, section, body }
}
