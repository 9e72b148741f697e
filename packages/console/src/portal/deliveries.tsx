/** The integration's deliveries, and the page that asks whether to replay one. @module */
import { deliveryFilter } from '../filters.js'
import { askReplay, noMatch, parseBefore } from '../pages/deliveries.js'
import { Empty, paymentPath } from '../view/parts.js'
import { deliveryColumns, deliveryFields, FilteredList, timeFields } from '../view/rows.js'
import { ExportLinks } from '../web/export.js'
import { type PortalActs, PortalForm, type PortalLoad, pickFields, portalHref, readContext } from './page.js'

const section = '/deliveries'
const fields = [...deliveryFields, ...timeFields]
const names = fields.map(({ name }) => name)

export const deliveriesPage: PortalLoad = async (deps, { before, ...query }) => {
  const values = pickFields(query, names)
  const page = await deps.tenant.deliveries({ ...deliveryFilter(values), ...parseBefore(before) })
  const body = (
    <FilteredList
      {...{ title: 'Deliveries', toHref: portalHref, section, fields, values, ...page }}
      columns={deliveryColumns(portalHref, await readContext(deps))}
      position={['before', before]}
      examined="2,000 versions"
      empty={Object.keys(values).length > 0 || before !== undefined ? noMatch : nothingDelivered}
    >
      <ExportLinks toHref={(ending) => portalHref(section + ending, values)} />
    </FilteredList>
  )
  return { title: 'Deliveries', section, body }
}

const nothingDelivered = (
  <Empty title="Nothing was delivered yet.">
    <p>
      Each version of a payment is posted to your notification URL. Set it at{' '}
      <a href={portalHref('/endpoint')}>Endpoint</a>, where a test delivery shows whether your receiver answers.
    </p>
  </Empty>
)

export const replayPage: PortalLoad = async ({ tenant }, { id = '' }) => {
  const delivery = await tenant.delivery(id)
  if (delivery === null) return null
  const form = (label: string) => <PortalForm act="replay" label={label} fields={{ id }} />
  return askReplay({ of: delivery, form, backHref: portalHref(section) })
}

/** Field `id`: the delivery's id. */
export const deliveryActs: PortalActs = {
  async replay(tenant, { id = '' }) {
    const delivery = await tenant.replay(id)
    return { to: paymentPath(delivery), note: 'replayed' }
  },
}
