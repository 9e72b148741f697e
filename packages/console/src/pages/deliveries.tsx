/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The list of deliveries, and the replay of one and of many. @module */
import type { DeliveryStatus } from '@payment-integration/core/internal'
import { deliveryFilter, deliveryStatuses, FilterError, type Given, wholeOf } from '../filters.js'
import { ActForm, type Field, Filters, ForRole } from '../view/forms.js'
import { Badge, Copyable, Dim, Empty, Facts, Hex, hrefOf, Pager, paymentPath, Table, When } from '../view/parts.js'
import { deliveryRows, listFields, wordOptions } from '../view/rows.js'
import { grouped } from '../view/text.js'
import { mayAct } from '../viewer.js'
import { jobPath } from './jobs.js'
import { type Acts, choicesOf, type Load, pageSize, topicOf } from './page.js'

const section = '/deliveries'

/** Deliveries, newest first. */
export const deliveriesPage: Load = async (deps, given) => {
  const { before, ...rest } = given
  const filter = deliveryFilter(given)
  const beforeId = before === undefined ? undefined : String(wholeOf('before', before))
  const page = await deps.service.queries.deliveries({ ...filter, beforeId, limit: pageSize })
  const fields: readonly Field[] = [
    { name: 'hash', label: 'Transaction', hint: '0x…', kind: 'search' },
    { name: 'status', label: 'Status', options: wordOptions(deliveryStatuses) },
    ...listFields(await choicesOf(deps), given, false),
  ]
  const body = (
    <>
      <h1>Deliveries</h1>
      <Filters action={hrefOf(section)} fields={fields} given={given} />
      <ForRole needs="operator">
        <p>
          {given['status'] === undefined ? (
            <Dim>To replay many, choose their status.</Dim>
          ) : (
            <a href={hrefOf('/deliveries/replay', filterOf(given))}>Replay all of these…</a>
          )}
        </p>
      </ForRole>
      <Table
        label="Deliveries"
        rows={page.rows}
        {...deliveryRows}
        id="rows"
        empty={Object.keys(given).length > 0 ? noMatch : nothingDelivered}
      />
      <Pager
        first={before === undefined ? null : hrefOf(section, rest)}
        next={page.next === null ? null : hrefOf(section, { ...rest, before: page.next })}
        cut={page.isCut ? 'The newest 2,000 deliveries were examined.' : null}
      />
    </>
  )
  const live = before === undefined ? topicOf('deliveries', given) : undefined
  return { title: 'Deliveries', section, body, live }
}

const noMatch = (
  <Empty title="No delivery matches.">
    <p>
      <a href={hrefOf(section)}>Show all deliveries</a>
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
  pending: 'They wait for a retry now, and are attempted at once instead.',
  exhausted: 'Their retries ended without success, and begin again.',
  delivered: 'Their receivers accepted them, and get them once more. A correct receiver ignores what it has.',
  superseded: 'A newer version took their place. A correct receiver discards an older version than it has.',
  missing: 'No attempt succeeded, and none was planned, as after a restore. They are attempted now.',
}

/** Counting millions of deliveries takes a while: it stops after these. */
const maxCounted = 100_000
const atMost = maxCounted + 1

function filterWithStatus(given: Given) {
  const { status, ...filter } = deliveryFilter(given)
  if (status === undefined) throw new FilterError('Choose a status first: many deliveries are replayed by status.')
  return { ...filter, status }
}

/** The parameters that choose deliveries. */
const filterOf = (given: Given) => {
  const { status, integration, hash, chain, since, until } = given
  return { status, integration, hash, chain, since, until }
}

/** The first step of a replay of many deliveries: their count, and the consequences. */
export const replayManyPage: Load = async ({ service, role }, given) => {
  const filter = filterWithStatus(given)
  // Only for those who may go on.
  const count = mayAct(role, 'operator') ? await service.queries.countDeliveries(filter, { atMost }) : null
  const deliveries = countedDeliveries(count)
  const body = (
    <>
      <h1>Replay {deliveries}?</h1>
      <Facts
        rows={[
          ['Status', <Badge word={filter.status} />],
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
        <a href={hrefOf(section, filterOf(given))}>Back to the deliveries</a>
      </p>
    </>
  )
  return { title: 'Replay deliveries', section, body }
}

/** A count of at most one more than {@link maxCounted}, in words. */
function countedDeliveries(count: number | null): string {
  if (count === null) return 'deliveries'
  if (count > maxCounted) return `more than ${grouped(maxCounted)} deliveries`
  return `${grouped(count)} ${count === 1 ? 'delivery' : 'deliveries'}`
}

/** The acts, by their names in the address. */
export const deliveryActs: Acts = {
  /** Field `id`: the delivery's id. Leads to its payment. */
  replay: {
    needs: 'operator',
    async run({ fields, commands }) {
      const delivery = await commands.deliveries.replay(fields['id'] ?? '')
      return { to: paymentPath(delivery), note: 'replayed' }
    },
  },
  /** Fields: the filter of the page of deliveries, with a status. Leads to the job. */
  'replay-many': {
    needs: 'operator',
    async run({ fields, commands, jobs, visit }) {
      const filter = filterWithStatus(fields)
      const counted = await commands.deliveries.count(filter, { atMost })
      const job = jobs.start({
        title: `Replay of ${filter.status} deliveries`,
        actor: visit.actor,
        // A larger total is unknown.
        total: counted > maxCounted ? null : counted,
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
  },
}
