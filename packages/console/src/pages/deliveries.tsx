/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The list of deliveries, and the replay of many. @module */
import type { DeliveryFilter, DeliveryStatus } from '@payment-integration/core/ports'
import { deliveryFilter, FilterError, type Given } from '../filters.js'
import { ActForm, ForRole } from '../view/forms.js'
import { Facts, Hex, hrefOf, Status, When } from '../view/parts.js'
import { grouped } from '../view/text.js'
import { jobPath } from './jobs.js'
import type { Act } from './page.js'

const filterNames = ['status', 'integration', 'hash', 'chain', 'since', 'until'] as const

const meanings: Readonly<Record<DeliveryStatus, string>> = {
  pending: 'They wait for a retry now, and are attempted at once instead.',
  exhausted: 'Their retries ended without success, and begin again.',
  delivered: 'Their receivers accepted them, and get them once more. A correct receiver ignores what it has.',
  superseded: 'A newer version took their place. A correct receiver discards an older version than it has.',
  missing: 'No attempt succeeded, and none was planned, as after a restore. They are attempted now.',
}

/** Counting millions of deliveries takes a while: it stops after these. */
export const mostCounted = 100_000

/** A count of at most one more than {@link mostCounted}, in words. */
function deliveriesOf(count: number | null): string {
  if (count === null) return 'deliveries'
  if (count > mostCounted) return `more than ${grouped(mostCounted)} deliveries`
  return `${grouped(count)} ${count === 1 ? 'delivery' : 'deliveries'}`
}

/** The parameters of a page of deliveries that choose deliveries. */
function filterOf(given: Given): Given {
  return Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = given[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

/** Leads to the first step from the page of deliveries, for those who may act. */
export function ReplayManyLink({ given }: { given: Given }) {
  const { status } = given
  return (
    <ForRole needs="operator">
      <p>
        {status === undefined ? (
          <span class="dim">To replay many, choose their status.</span>
        ) : (
          <a href={hrefOf('/deliveries/replay', filterOf(given))}>Replay all of these…</a>
        )}
      </p>
    </ForRole>
  )
}

/** The page: the count, the filter and the button. */
export function ReplayManyPage(props: {
  given: Given
  filter: DeliveryFilter & { readonly status: DeliveryStatus }
  /** At most one more than {@link mostCounted}; null for those who may not act. */
  count: number | null
}) {
  const { given, filter, count } = props
  const back = hrefOf('/deliveries', filterOf(given))
  const deliveries = deliveriesOf(count)
  return (
    <>
      <h1>Replay {deliveries}?</h1>
      <Facts
        rows={[
          ['Status', <Status status={filter.status} />],
          ['Integration', filter.integrationAddress === undefined ? 'all' : <Hex value={filter.integrationAddress} />],
          ['Chain', filter.chainId ?? 'all'],
          ['Transaction', filter.txHash === undefined ? 'all' : <Hex value={filter.txHash} />],
          ['Since', filter.since === undefined ? 'the first' : <When at={filter.since} withDate />],
          ['Until', filter.until === undefined ? 'now' : <When at={filter.until} withDate />],
        ]}
      />
      <p>{meanings[filter.status]}</p>
      <p>
        Each is signed with the active secret at its attempt, and marked as a replay. Deliveries whose attempt is in
        flight are skipped. The audit log gets a record for each 1,000.
      </p>
      {count === null ? (
        <p class="note">A replay needs the role operator.</p>
      ) : count === 0 ? (
        <p class="note">Nothing matches, so there is nothing to replay.</p>
      ) : (
        <ActForm act="replay-many" label={`Replay ${deliveries}`} needs="operator" fields={filterOf(given)} />
      )}
      <p>
        <a href={back}>Back to the deliveries</a>
      </p>
    </>
  )
}

/** Fields: the filter of the page of deliveries, with a status. Leads to the job. */
export const replayManyAct: Act = {
  needs: 'operator',
  async run({ fields, commands, jobs, visit }) {
    const filter = deliveryFilter(fields)
    const { status } = filter
    if (status === undefined) throw new FilterError('Choose a status first: many deliveries are replayed by status.')
    const counted = await commands.deliveries.count(filter, { atMost: mostCounted + 1 })
    // A larger total is unknown.
    const total = counted > mostCounted ? null : counted
    const job = jobs.start({
      title: `Replay of ${status} deliveries`,
      actor: visit.actor,
      total,
      async run(report, signal) {
        const onProgress = ({ replayed, underWay }: { replayed: number; underWay: number }) => {
          const skipped = underWay === 0 ? '' : ` ${grouped(underWay)} were skipped: their attempt is in flight.`
          report({ done: replayed + underWay, words: `${grouped(replayed)} are due now.${skipped}` })
        }
        onProgress(await commands.deliveries.replayAll(filter, { onProgress, signal }))
      },
    })
    return { to: jobPath(job) }
  },
}
