/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Reads the pages that only lead to acts. @module */
import { deliveryFilter, FilterError } from '../filters.js'
import type { Load } from '../page-types.js'
import { hasTools } from '../tools/tools.js'
import { ToolsPage } from '../tools/tools-page.js'
import { mayAct } from '../viewer.js'
import { integrationChoices } from './part-of.js'
import { mostCounted, ReplayManyPage } from './replay-many.js'

/** The pages, by their paths below the base. */
export const actPages: Readonly<Record<string, Load>> = {
  async '/deliveries/replay'({ service, role }, given) {
    const { status, ...filter } = deliveryFilter(given)
    if (status === undefined) throw new FilterError('Choose a status first: many deliveries are replayed by status.')
    // Only for those who may go on.
    const count = mayAct(role, 'operator')
      ? await service.queries.countDeliveries({ ...filter, status }, { atMost: mostCounted + 1 })
      : null
    const body = <ReplayManyPage given={given} filter={{ ...filter, status }} count={count} />
    return { title: 'Replay deliveries', section: '/deliveries', body }
  },
  async '/tools'({ service, tools, now }) {
    if (!hasTools(tools)) return null
    const integrations = await integrationChoices(service.queries)
    const body = <ToolsPage tools={tools} integrations={integrations} now={now()} />
    return { title: 'Tools', section: '/tools', body }
  },
}
