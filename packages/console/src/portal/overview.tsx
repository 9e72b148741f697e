/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The integration's first page: its endpoint, and its newest payments and deliveries. @module */
import type { PaymentBody } from '@payment-integration/contract'
import type { DeliveryView } from '@payment-integration/core/ports'
import { healthOf } from '../pages/endpoints.js'
import { Badge, Facts, Shown, When } from '../view/parts.js'
import type { EndpointProps } from './endpoint.js'
import { DeliveryTable, NoPayments, PaymentTable, type Place } from './lists.js'
import { portalHref } from './page.js'

/** Content of the page. */
export interface OwnOverviewProps extends EndpointProps {
  readonly place: Place
  /** The newest. */
  readonly payments: readonly PaymentBody[]
  /** The newest. */
  readonly deliveries: readonly DeliveryView[]
}

/** The page. */
export function OwnOverviewPage(props: OwnOverviewProps) {
  const { integration, payments, deliveries, place } = props
  return (
    <>
      <h1>Overview</h1>
      <Facts
        rows={[
          ['Integration', <code class="whole">{integration.address}</code>, 'wide'],
          ['Name', integration.name === '' ? 'none' : <Shown text={integration.name} most={60} />],
          [
            'Endpoint',
            <a href={portalHref('/endpoint')}>
              <Badge word={healthOf({ ...integration, health: props.health })} />
            </a>,
          ],
          [
            'Notification URL',
            integration.notificationUrl === null ? (
              <a href={portalHref('/endpoint')}>Set one</a>
            ) : (
              <Shown text={integration.notificationUrl} most={120} />
            ),
          ],
          ['Registered', <When at={integration.createdAt} withDate />],
        ]}
      />
      <h2>Newest payments</h2>
      {payments.length === 0 ? <NoPayments {...place} /> : <PaymentTable payments={payments} />}
      {deliveries.length === 0 ? null : (
        <>
          <h2>Newest deliveries</h2>
          <DeliveryTable deliveries={deliveries} />
        </>
      )}
    </>
  )
}
