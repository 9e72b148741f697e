/** The integration's first page: its endpoint, and its newest payments and deliveries. @module */
import { describeHealth } from '../pages/endpoints.js'
import { Badge, Facts, Hex, Shown, Table, When } from '../view/parts.js'
import { deliveryColumns, paymentColumns } from '../view/rows.js'
import { type PortalLoad, portalHref, readContext } from './page.js'
import { noPayments } from './payments.js'

const maxNewest = 5

export const overviewPage: PortalLoad = async (deps) => {
  const { tenant } = deps
  const [integration, health, payments, deliveries] = await Promise.all([
    tenant.integration(),
    tenant.endpoint(),
    tenant.payments({ limit: maxNewest }),
    tenant.deliveries({}),
  ])
  const { address, name, notificationUrl: url, createdAt } = integration
  const endpoint = portalHref('/endpoint')
  const body = (
    <>
      <h1>Overview</h1>
      <Facts
        rows={[
          ['Integration', <Hex value={address} isWhole />, 'wide'],
          ['Name', name === '' ? 'none' : <Shown text={name} max={60} />],
          [
            'Endpoint',
            <a href={endpoint}>
              <Badge word={describeHealth({ ...integration, health })} />
            </a>,
          ],
          ['Notification URL', url === null ? <a href={endpoint}>Set one</a> : <Shown text={url} max={120} />],
          ['Registered', <When at={createdAt} withDate />],
        ]}
      />
      <h2>Newest payments</h2>
      <Table label="Payments" rows={payments.rows} columns={paymentColumns(portalHref)} empty={noPayments(deps)} />
      {deliveries.rows.length === 0 ? null : <h2>Newest deliveries</h2>}
      <Table
        label="Deliveries"
        rows={deliveries.rows.slice(0, maxNewest)}
        columns={deliveryColumns(portalHref, await readContext(deps))}
        empty={null}
      />
    </>
  )
  return { title: 'Overview', section: '', body }
}
