/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The list of deliveries, with the replay of one delivery or of many. @module */
import type { DeliveryStatus } from '@payment-integration/core/internal'
import { deliveryFilter, FilterError, parseWholeNumber, type QueryFields } from '../filters.js'
import { ActForm, CsrfField, Filters, ForRole } from '../view/forms.js'
import { Badge, buildHref, Copyable, Dim, Empty, Facts, Hex, Pager, paymentPath, Table, When } from '../view/parts.js'
import { deliveryFields, deliveryRows, listFields } from '../view/rows.js'
import { formatNumber, nameChain } from '../view/text.js'
import { isAllowed } from '../viewer.js'
import { ExportLinks } from '../web/export.js'
import { jobPath } from './jobs.js'
import { actsFor, buildTopic, type Load, pageSize, readChoices } from './page.js'

const section = '/deliveries'

export const deliveriesPage: Load = async (deps, query) => {
  const { before, ...rest } = query
  const filter = deliveryFilter(query)
  const beforeId = before === undefined ? undefined : String(parseWholeNumber('before', before))
  const [page, { endpoints }] = await Promise.all([
    deps.service.queries.deliveries({ ...filter, beforeId, limit: pageSize }),
    deps.sampler.overview(),
  ])
  const context = { now: deps.now(), endpoints }
  const fields = [...deliveryFields, ...listFields(await readChoices(deps), query, false)]
  const body = (
    <>
      <h1>Deliveries</h1>
      <Filters action={buildHref(section)} fields={fields} values={query} />
      <ForRole needs="operator">
        <ExportLinks toHref={(ending) => buildHref(section + ending, rest)} />
        <form id="replay" method="post" action={buildHref('/act/replay')}>
          <CsrfField />
        </form>
        <p>
          {query['status'] === undefined ? (
            <Dim>To replay many at once, filter by status first.</Dim>
          ) : page.rows.length === 0 ? null : (
            <a href={buildHref('/deliveries/replay', buildFilterQuery(query))}>Replay all of these…</a>
          )}
        </p>
      </ForRole>
      <Table
        label="Deliveries"
        rows={page.rows}
        {...deliveryRows(context)}
        id="rows"
        empty={Object.keys(query).length > 0 ? noMatch : nothingDelivered}
      />
      <Pager
        first={before === undefined ? null : buildHref(section, rest)}
        next={page.next === null ? null : buildHref(section, { ...rest, before: page.next })}
        cut={page.isCut ? '2,000 versions were examined.' : null}
      />
    </>
  )
  const live = before === undefined ? buildTopic('deliveries', query) : undefined
  return { title: 'Deliveries', section, body, live }
}

const noMatch = (
  <Empty title="No delivery matches.">
    <p>
      <a href={buildHref(section)}>Show all deliveries</a>
    </p>
  </Empty>
)
const nothingDelivered = (
  <Empty title="Nothing was delivered yet.">
    <p>Each version of a payment is posted to the notification URL of its integration. Set one:</p>
    <Copyable
      label="A command that sets a notification URL"
      text="payment-integration integrations set-url 0x1111111111111111111111111111111111111111 https://shop.example/hook"
    />
  </Empty>
)

const meanings: Readonly<Record<DeliveryStatus, string>> = {
  pending: 'They wait for their next attempt. A replay sends them now.',
  exhausted: 'All their attempts failed. A replay starts the retries again.',
  delivered: 'Receivers accepted them, and they are sent once more. A correct receiver ignores a version it has.',
  superseded: 'A newer version replaced them. A correct receiver discards a version older than its own.',
  missing: 'No attempt succeeded and none is planned, as after a restore. A replay sends them now.',
}

/** Counting stops here, because counting millions of deliveries takes long. */
const maxCounted = 100_000
const atMost = maxCounted + 1

function filterWithStatus(query: QueryFields) {
  const { status, ...filter } = deliveryFilter(query)
  if (status === undefined) throw new FilterError('Choose a status first: many deliveries are replayed by status.')
  return { ...filter, status }
}

const buildFilterQuery = (query: QueryFields) => {
  const { status, integration, hash, chain, since, until } = query
  return { status, integration, hash, chain, since, until }
}

/** The first step of a replay of many deliveries: their count, and the consequences. */
export const replayManyPage: Load = async ({ service, role }, query) => {
  const filter = filterWithStatus(query)
  // Counted only for a role that may replay.
  const count = isAllowed(role, 'operator') ? await service.queries.countDeliveries(filter, { atMost }) : null
  const deliveries = countedDeliveries(count)
  const body = (
    <>
      <h1>{count === 0 ? 'No delivery matches' : `Replay ${deliveries}?`}</h1>
      <Facts
        rows={[
          ['Status', <Badge word={filter.status} />],
          ['Integration', filter.integrationAddress === undefined ? 'all' : <Hex value={filter.integrationAddress} />],
          ['Chain', filter.chainId === undefined ? 'all' : nameChain(filter.chainId)],
          ['Transaction', filter.txHash === undefined ? 'all' : <Hex value={filter.txHash} />],
          ['Since', filter.since === undefined ? 'the first' : <When at={filter.since} withDate />],
          ['Until', filter.until === undefined ? 'now' : <When at={filter.until} withDate />],
        ]}
      />
      <p>{meanings[filter.status]}</p>
      <p>
        Each is signed with the active secret when it is sent, and marked as a replay. Deliveries in flight are skipped.
        The audit log gets one record per 1,000 deliveries.
      </p>
      {count === null ? (
        <p class="note">A replay needs the role operator.</p>
      ) : count === 0 ? (
        <p class="note">There is nothing to replay.</p>
      ) : (
        <ActForm act="replay-many" label={`Replay ${deliveries}`} needs="operator" fields={buildFilterQuery(query)} />
      )}
      <p>
        <a href={buildHref(section, buildFilterQuery(query))}>Back to the deliveries</a>
      </p>
    </>
  )
  return { title: 'Replay deliveries', section, body }
}

function countedDeliveries(count: number | null): string {
  if (count === null) return 'deliveries'
  if (count > maxCounted) return `more than ${formatNumber(maxCounted)} deliveries`
  return `${formatNumber(count)} ${count === 1 ? 'delivery' : 'deliveries'}`
}

export const deliveryActs = actsFor('operator', {
  /** Field `id`: the delivery's id. Redirects to the payment. */
  async replay({ fields, commands }) {
    return { to: paymentPath(await commands.deliveries.replay(fields['id'] ?? '')), note: 'replayed' }
  },
  /** Fields: the filter of the page of deliveries, with a status. Redirects to the job. */
  async 'replay-many'({ fields, commands, jobs, visit }) {
    const filter = filterWithStatus(fields)
    const counted = await commands.deliveries.count(filter, { atMost })
    const job = jobs.start({
      title: `Replay of ${filter.status} deliveries`,
      actor: visit.actor,
      // Counting stopped, so the total is unknown.
      total: counted > maxCounted ? null : counted,
      async run(report, signal) {
        const onProgress = ({ replayed, inFlight }: { replayed: number; inFlight: number }) => {
          const skipped = inFlight === 0 ? '' : ` ${formatNumber(inFlight)} were skipped: they were being sent.`
          report({ done: replayed + inFlight, words: `${formatNumber(replayed)} are due now.${skipped}` })
        }
        onProgress(await commands.deliveries.replayAll(filter, { onProgress, signal }))
      },
    })
    return { to: jobPath(job) }
  },
})
