/** The list of deliveries, and the page that asks whether to replay one delivery or many. @module */
import type { Queries } from '@payment-integration/core'
import type { DeliveryFilter, DeliveryStatus, DeliveryView } from '@payment-integration/core/internal'
import type { Child } from 'hono/jsx'
import { deliveryFilter, FilterError, parseWholeNumber, type QueryFields } from '../filters.js'
import { ActForm, ForRole } from '../view/forms.js'
import type { FactRow } from '../view/parts.js'
import { Badge, buildHref, Copyable, Dim, Empty, Facts, Hex, paymentPath, When } from '../view/parts.js'
import { deliveryFields, deliveryRows, FilteredList, listFields, replayPath } from '../view/rows.js'
import { formatNumber, nameChain } from '../view/text.js'
import { isAllowed } from '../viewer.js'
import { ExportLinks } from '../web/export.js'
import { startJob } from './jobs.js'
import { actsFor, buildTopic, type Load, pageSize, readChoices } from './page.js'

const section = '/deliveries'

export const deliveriesPage: Load = async (deps, query) => {
  const { before, ...values } = query
  const [page, { endpoints }] = await Promise.all([
    deps.service.queries.deliveries({ ...deliveryFilter(query), ...parseBefore(before), limit: pageSize }),
    deps.sampler.overview(),
  ])
  const body = (
    <FilteredList
      {...{ title: 'Deliveries', toHref: buildHref, section, values, examined: '2,000 versions', ...page }}
      {...deliveryRows({ now: deps.clock.now(), endpoints })}
      fields={[...deliveryFields, ...listFields(await readChoices(deps), query, false)]}
      position={['before', before]}
      empty={Object.keys(query).length > 0 ? noMatch : nothingDelivered}
    >
      <ForRole needs="operator">
        <ExportLinks toHref={(ending) => buildHref(section + ending, values)} />
        <p>
          {query['status'] === undefined ? (
            <Dim>To replay many at once, filter by status first.</Dim>
          ) : page.rows.length === 0 ? null : (
            <a href={buildHref(replayPath, values)}>Replay all of these…</a>
          )}
        </p>
      </ForRole>
    </FilteredList>
  )
  const live = before === undefined ? buildTopic('deliveries', query) : undefined
  return { title: 'Deliveries', section, body, live }
}

export const parseBefore = (before: string | undefined) =>
  before === undefined ? {} : { beforeId: String(parseWholeNumber('before', before)) }

export const noMatch = <Empty title="No delivery matches." />
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
  pending: 'Pending deliveries wait for their next attempt. A replay sends them now.',
  exhausted: 'All attempts of exhausted deliveries failed. A replay restarts their retries.',
  delivered: 'Receivers accepted these, and they are sent once more. A correct receiver ignores a version that it has.',
  superseded: 'A newer version replaced these before delivery. A correct receiver discards one older than its own.',
  missing:
    'Missing deliveries have no successful attempt and none planned, perhaps since a restore. A replay sends them now.',
}

interface ReplayQuestion {
  /** One delivery, or the filter of many. */
  readonly of: DeliveryFilter & { readonly status: DeliveryStatus; readonly version?: number }
  /** Null: not counted. @default 1 */
  readonly count?: number | null
  /** Builds the form of the act. @param label - The text of its button. */
  readonly form: (label: string) => Child
  readonly backHref: string
}

/** The page before each replay: the deliveries, the consequences, and the form that starts the replay. */
export function askReplay({ of, count = 1, form, backHref }: ReplayQuestion) {
  const { status, integrationAddress, chainId, txHash, version, since, until } = of
  const deliveries = describeCount(count)
  const facts: readonly (FactRow | false)[] = [
    ['Status', <Badge word={status} />],
    integrationAddress !== undefined && ['Integration', <Hex value={integrationAddress} />],
    chainId !== undefined && ['Chain', nameChain(chainId)],
    txHash !== undefined && ['Transaction', <Hex value={txHash} />],
    version !== undefined && ['Version', version],
    since !== undefined && ['Created since', <When at={since} withDate />],
    until !== undefined && ['Created until', <When at={until} withDate />],
  ]
  const body = (
    <>
      <h1>{count === 0 ? 'No delivery matches' : `Replay ${deliveries}?`}</h1>
      <Facts rows={facts.filter((row) => row !== false)} />
      <p>{meanings[status]}</p>
      <p>
        A replay is signed with the active secret when it is sent, and marked as a replay in the attempts.
        {version === undefined ? ' Deliveries in flight are skipped. Each 1,000 get one audit record.' : ''}
      </p>
      {count === 0 ? <p class="note">There is nothing to replay.</p> : form(`Replay ${deliveries}`)}
      <p>
        <a href={backHref}>Back to the deliveries</a>
      </p>
    </>
  )
  return { title: 'Replay deliveries', section, body }
}

/** Finds a delivery by the id in a link; null: there is none with this id. */
export async function findDelivery(
  read: (query: { beforeId: string; limit: number }) => ReturnType<Queries['deliveries']>,
  id: string,
): Promise<DeliveryView | null> {
  const number = parseWholeNumber('id', id)
  const { rows } = await read({ beforeId: String(number + 1), limit: 1 })
  return rows.find(({ deliveryId }) => deliveryId === String(number)) ?? null
}

/** Counting stops here, because counting millions of deliveries takes long. */
const maxCounted = 100_000
const atMost = maxCounted + 1

function filterWithStatus(query: QueryFields) {
  const { status, ...filter } = deliveryFilter(query)
  if (status === undefined) throw new FilterError('Choose a status first: many deliveries are replayed by status.')
  return { ...filter, status }
}

/** Asks about the delivery with the id of the link, or about all deliveries of its filter. */
export const replayPage: Load = async ({ service: { queries }, role }, query) => {
  const mayReplay = isAllowed(role, 'operator')
  const askAbout = (act: string, question: Omit<ReplayQuestion, 'form' | 'backHref'>, back: QueryFields) =>
    askReplay({
      ...question,
      backHref: buildHref(section, back),
      form: (label) =>
        mayReplay ? (
          <ActForm {...{ act, label }} fields={query} needs="operator" />
        ) : (
          <p class="note">A replay needs the role operator.</p>
        ),
    })
  if (query['id'] !== undefined) {
    const delivery = await findDelivery(queries.deliveries, query['id'])
    return delivery && askAbout('replay', { of: delivery }, {})
  }
  const filter = filterWithStatus(query)
  // Counted only for a role that may replay.
  const count = mayReplay ? await queries.countDeliveries(filter, { atMost }) : null
  return askAbout('replay-many', { of: filter, count }, query)
}

function describeCount(count: number | null): string {
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
  async 'replay-many'(input) {
    const { commands } = input
    const filter = filterWithStatus(input.fields)
    const counted = await commands.deliveries.count(filter, { atMost })
    return startJob(input, {
      title: `Replay of ${filter.status} deliveries`,
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
  },
})
