/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The integration's deliveries, each with a replay button. @module */
import type { DeliveryView } from '@payment-integration/core/internal'
import type { Child } from 'hono/jsx'
import { deliveryFilter, parseWholeNumber, type QueryFields } from '../filters.js'
import { Filters } from '../view/forms.js'
import { type Column, Empty, Pager, paymentPath, Table } from '../view/parts.js'
import { type DeliveryContext, deliveryColumns, deliveryFields, labelReplay } from '../view/rows.js'
import { ExportLinks } from '../web/export.js'
import { type PortalActs, PortalForm, type PortalLoad, type PortalPageDeps, portalHref } from './page.js'

const section = '/deliveries'

export const deliveriesPage: PortalLoad = async (deps, { hash, status, before }) => {
  const query: QueryFields = { ...(hash === undefined ? {} : { hash }), ...(status === undefined ? {} : { status }) }
  const beforeId = before === undefined ? undefined : String(parseWholeNumber('before', before))
  const page = await deps.tenant.deliveries({ ...deliveryFilter(query), beforeId })
  const isFiltered = Object.keys(query).length > 0 || before !== undefined
  const body = (
    <>
      <h1>Deliveries</h1>
      <Filters action={portalHref(section)} fields={deliveryFields} values={query} />
      <ExportLinks toHref={(ending) => portalHref(section + ending, query)} />
      <DeliveryTable
        deliveries={page.rows}
        context={await readContext(deps)}
        empty={isFiltered ? <Empty title="No delivery matches." /> : nothingDelivered}
      />
      <Pager
        first={before === undefined ? null : portalHref(section, query)}
        next={page.next === null ? null : portalHref(section, { ...query, before: page.next })}
        cut={page.isCut ? '2,000 versions were examined.' : null}
      />
    </>
  )
  return { title: 'Deliveries', section, body }
}

export function DeliveryTable(props: { deliveries: readonly DeliveryView[]; context: DeliveryContext; empty?: Child }) {
  const columns: readonly Column<DeliveryView>[] = [
    ...deliveryColumns((delivery) => portalHref(paymentPath(delivery)), props.context),
    [
      'Replay',
      (delivery) => <PortalForm act="replay" label={labelReplay(delivery)} fields={{ id: delivery.deliveryId }} />,
    ],
  ]
  return <Table label="Deliveries" rows={props.deliveries} columns={columns} empty={props.empty} />
}

export async function readContext({ tenant, now }: Pick<PortalPageDeps, 'tenant' | 'now'>): Promise<DeliveryContext> {
  const health = await tenant.endpoint()
  return { now: now(), endpoints: health === null ? [] : [health] }
}

const nothingDelivered = (
  <Empty title="Nothing was delivered yet.">
    <p>
      Each version of a payment is posted to your notification URL. Set it at{' '}
      <a href={portalHref('/endpoint')}>Endpoint</a>, where a test delivery shows whether your receiver answers.
    </p>
  </Empty>
)

/** Field `id`: the delivery's id. */
export const deliveryActs: PortalActs = {
  async replay(tenant, { id = '' }) {
    const delivery = await tenant.replay(id)
    return { to: paymentPath(delivery), note: 'replayed' }
  },
}
