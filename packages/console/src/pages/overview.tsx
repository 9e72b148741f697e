/** The overview of current activity; a number links to the list with exactly its rows. @module */
import type { DatabaseSnapshot } from '@payment-integration/core/internal'
import { FilterError } from '../filters.js'
import type { Overview, Range, StackedSeries } from '../live/overview.js'
import {
  chartData,
  chooseRange,
  findStart,
  maxDots,
  maxEndpoints,
  maxPending,
  ranges,
  sumVolumes,
} from '../live/overview.js'
import { buildHref, Copyable, Dim, Empty, Shown } from '../view/parts.js'
import { formatCount, formatLatency, formatNumber, formatSpan, nameChain } from '../view/text.js'
import { ChainTable } from './chains.js'
import type { Load } from './page.js'
import { TestPayment } from './tools.js'

/** If the oldest due delivery is older than this, in milliseconds, its tile is marked. */
const lateMs = 30_000
/** A lower share of successful attempts is marked. */
const goodShare = 0.95

/** The overview page. Before the first payment it explains how to make one. */
export const overviewPage: Load = async ({ service: { queries }, sampler, url, tools }, query) => {
  const [hour, newest] = await Promise.all([sampler.overview(), queries.payments({ limit: 1 })])
  const isEmpty = newest.rows.length === 0
  const [integration] = isEmpty ? await queries.integrations({ limit: 1 }) : []
  const chosen = query['range'] ?? chooseRange(hour, newest.rows[0]?.blockTimestamp ?? 0)
  if (!isRange(chosen)) throw new FilterError(`range is none of ${Object.keys(ranges).join(', ')}.`)
  const overview = await sampler.overviewOfRange(chosen)
  const charts = chartData(overview)
  const body = (
    <>
      <h1>
        Overview
        <nav class="ranges" aria-label="Time range">
          {Object.entries(ranges).map(([range, { label }]) => (
            <a href={buildHref('', { range })} aria-current={range === chosen ? 'true' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      </h1>
      {isEmpty ? <FirstSteps {...{ origin: url.origin, tools, integration }} /> : null}
      <div id="problems">
        <Problems overview={overview} />
      </div>
      <div id="tiles" class="tiles">
        <Tiles overview={overview} />
      </div>
      <div class="charts">
        <Chart id="chart-payments" title="Payments by state" data={charts.payments} path="/payments" />
        <Chart id="chart-attempts" title="Delivery attempts by outcome" data={charts.attempts} />
        <figure class="chart wide">
          <figcaption>
            Response time{' '}
            <span class="dim">newest {maxDots} attempts; log scale; lines at p50, p95 and the 5 s limit</span>
          </figcaption>
          <div id="chart-latency" class="plot"></div>
          <p class="dim nojs">
            p50 {formatMs(overview.p50)}, p95 {formatMs(overview.p95)}, of the newest {overview.dots.length} attempts
          </p>
        </figure>
      </div>
      <div id="chart-data" data-json={JSON.stringify(charts)} hidden></div>
      <h2>Chains</h2>
      <ChainTable chains={overview.chains} />
    </>
  )
  const isLive = chosen === '15m' || chosen === '1h'
  return { title: 'Overview', section: '', body, live: isLive ? `topic=overview&range=${chosen}` : undefined }
}

const formatMs = (ms: number | null) => (ms === null ? 'none' : formatLatency(ms))
const isRange = (text: string): text is Range => Object.hasOwn(ranges, text)

export function Tiles({ overview }: { overview: Overview }) {
  const { label } = ranges[overview.range]
  const volumes = sumVolumes(overview.volumes)
  const payments = total(overview.payments.counts)
  const { attempts, delivered } = countAttempts(overview)
  const { pending, oldestDueMs, oldestBlockedMs } = overview.backlog
  const isBlocked = (oldestBlockedMs ?? -1) > (oldestDueMs ?? -1)
  const oldestMs = (isBlocked ? oldestBlockedMs : oldestDueMs) ?? -1
  const isLate = oldestMs > lateMs
  const plus = (isCut: boolean) => (isCut ? '+' : '')
  return (
    <>
      <Tile
        name="Payments"
        value={`${formatNumber(payments)}${plus(overview.payments.isCut)}`}
        note={`last ${label}`}
        href={buildHref('/payments', { since: findStart(overview.at, overview.range) })}
      />
      <Tile
        name="Successful attempts"
        value={attempts === 0 ? 'none yet' : `${((100 * delivered) / attempts).toFixed(1)} %`}
        note={`${formatNumber(attempts - delivered)} of ${formatNumber(attempts)}${plus(overview.attempts.isCut)} failed`}
        tone={delivered < goodShare * attempts ? 'bad' : ''}
      />
      <Tile
        name="Response time, median"
        value={overview.p50 === null ? 'none yet' : formatLatency(overview.p50)}
        note={
          overview.p95 === null
            ? 'no answer in this range'
            : `p95 ${formatMs(overview.p95)}, newest ${formatNumber(overview.dots.length)} answers`
        }
      />
      <Tile
        name="Pending deliveries"
        value={`${formatNumber(pending)}${plus(pending >= maxPending)}`}
        note={pending === 0 ? 'nothing is waiting' : 'to be sent or retried'}
        href={buildHref('/deliveries', { status: 'pending' })}
      />
      <Tile
        name="Oldest due delivery"
        value={oldestMs < 0 ? 'none' : formatSpan(oldestMs)}
        note={isBlocked ? 'waits for a blocked endpoint' : isLate ? 'late, though not blocked' : 'nothing is late'}
        tone={isLate ? 'bad' : ''}
        href={buildHref('/deliveries', { status: 'pending' })}
      />
      <Tile
        name="Failing endpoints"
        value={`${formatNumber(overview.endpoints.length)}${plus(overview.endpoints.length >= maxEndpoints)}`}
        note={overview.endpoints.length > 0 ? 'last attempt failed' : 'all answer'}
        tone={overview.endpoints.length > 0 ? 'bad' : ''}
        href={buildHref('/endpoints', { health: 'failing' })}
      />
      <div class="tile half">
        <span class="name">Volume by currency</span>
        {volumes.length === 0 ? <span class="value">none yet</span> : null}
        <ul class="totals">
          {volumes.slice(0, maxCurrencies).map(({ currency, amount, payments }) => (
            <li>
              <span class="value">
                <Shown text={groupDigits(amount)} max={60} /> <Shown text={currency} max={10} />
              </span>
              <Dim>{formatCount(payments, 'payment')}</Dim>
            </li>
          ))}
        </ul>
        <Dim>
          invoices of successful payments, {overview.volumes.isCut ? 'the newest 20,000 of the' : ''} last {label}
          {volumes.length > maxCurrencies ? `; ${volumes.length - maxCurrencies} more currencies` : ''}
        </Dim>
      </div>
      <div class="tile half">
        <span class="name">Deliveries waiting, by age</span>
        <ul class="totals">
          {overview.waiting.map(({ label: age, count, since, until }) => (
            <li>
              {count === 0 ? (
                <span class="value">0</span>
              ) : (
                <a class="value" href={buildHref('/deliveries', { status: 'pending', since, until })}>
                  {formatNumber(count)}
                  {plus(count >= maxPending)}
                </a>
              )}
              <Dim>{age}</Dim>
            </li>
          ))}
        </ul>
        <Dim>since the version was made</Dim>
      </div>
    </>
  )
}

const maxCurrencies = 4
const groupDigits = (amount: string) => {
  const [whole = '0', ...fraction] = amount.split('.')
  return [BigInt(whole).toLocaleString('en-US'), ...fraction].join('.')
}

type ProblemRow = readonly [title: string, detail: string, linkText?: string, href?: string]

function findProblems(overview: Overview): ProblemRow[] {
  const { backlog, endpoints, missing, oldSnapshot, chains, range } = overview
  const { attempts, delivered } = countAttempts(overview)
  const blocked = endpoints.filter(({ blocks }) => blocks > 0).length
  const rows: (ProblemRow | false)[] = [
    endpoints.length > 0 && [
      endpoints.length === 1 ? '1 endpoint is failing.' : `${formatNumber(endpoints.length)} endpoints are failing.`,
      blocked === 0 ? 'Their deliveries are retried.' : `${blocked} blocked: deliveries wait until one is accepted.`,
      'See causes and remedies',
      buildHref('/endpoints', { health: 'failing' }),
    ],
    endpoints.length === 0 &&
      delivered < goodShare * attempts && [
        `${formatNumber(attempts - delivered)} of ${formatNumber(attempts)} attempts failed.`,
        `Every endpoint answers again; the failures are from the last ${ranges[range].label}.`,
        'Show endpoints',
        buildHref('/endpoints'),
      ],
    backlog.oldestDueMs !== null &&
      backlog.oldestDueMs > lateMs && [
        'Deliveries are late.',
        `The oldest has been due for ${formatSpan(backlog.oldestDueMs)}, and its endpoint is not blocked.`,
        'Show pending deliveries',
        buildHref('/deliveries', { status: 'pending' }),
      ],
    missing > 0 && [
      missing === 1 ? '1 delivery is missing.' : `${formatNumber(missing)} deliveries are missing.`,
      'They are neither sent nor pending, as after a restore. Run deliveries check --repair, or replay them.',
      'Show missing deliveries',
      buildHref('/deliveries', { status: 'missing' }),
    ],
    oldSnapshot !== null && [
      `A database snapshot has been open for ${formatSpan(oldSnapshot.ageMs)}.`,
      `It slows deliveries until it ends: ${nameHolder(oldSnapshot)}.`,
    ],
    ...chains.map(
      ({ chainId, error }) =>
        error !== null &&
        ([
          `Chain ${nameChain(chainId)} is not indexed now.`,
          'Its payments appear when its nodes answer again.',
          'Show its nodes',
          `${buildHref('/chains')}#chain-${chainId}`,
        ] as const),
    ),
  ]
  return rows.filter((row) => row !== false)
}

export function Problems({ overview }: { overview: Overview }) {
  const rows = findProblems(overview)
  if (rows.length === 0) return <p class="well">All well: every endpoint answers, and no delivery is late.</p>
  return (
    <ul class="problems">
      {rows.map(([title, detail, linkText, href]) => (
        <li>
          <strong>{title}</strong> <Shown text={detail} max={400} />{' '}
          {href === undefined ? null : <a href={href}>{linkText}</a>}
        </li>
      ))}
    </ul>
  )
}

function nameHolder({ holder, application, databaseUser }: DatabaseSnapshot): string {
  const user = databaseUser === null ? '' : `, database user ${databaseUser}`
  return `${holder} ${application === '' ? 'without a name' : application}${user}`
}

/** A number with its name. Without `href`: no list has exactly the counted rows. */
function Tile(props: { name: string; value: string; href?: string; note?: string; tone?: string }) {
  const { href, name, value, note, tone = '' } = props
  const content = (
    <>
      <span class="name">{name}</span>
      <span class="value">{value}</span>
      {note === undefined ? null : <span class="dim">{note}</span>}
    </>
  )
  return href === undefined ? (
    <div class={`tile ${tone}`}>{content}</div>
  ) : (
    <a class={`tile ${tone}`} href={href}>
      {content}
    </a>
  )
}

/** A chart by state. @param path - The list to which each state links; undefined: no list, as for attempts. */
function Chart({ id, title, data, path }: { id: string; title: string; data: StackedSeries; path?: string }) {
  const since = (data.times[0] ?? 0) * 1_000
  const toHref = (list: string, name: string) => buildHref(list, { since, state: name === 'no_state' ? 'none' : name })
  return (
    <figure class="chart">
      <figcaption>{`${title}, per ${formatSpan(data.barMs)}`}</figcaption>
      <div id={id} class="plot" data-path={path === undefined ? undefined : buildHref(path)}></div>
      <details>
        <summary>Totals</summary>
        {data.series.length === 0 ? (
          <p class="dim">Nothing happened.</p>
        ) : (
          <ul class="totals">
            {data.series.map(({ name, values }) => (
              <li>
                {path === undefined ? sum(values) : <a href={toHref(path, name)}>{sum(values)}</a>}{' '}
                {name.replaceAll('_', ' ')}
              </li>
            ))}
          </ul>
        )}
      </details>
    </figure>
  )
}

const sum = (values: readonly number[]) => formatNumber(values.reduce((total, value) => total + value, 0))

function FirstSteps({ origin, ...test }: Parameters<typeof TestPayment>[0] & { origin: string }) {
  return (
    <Empty title="No payment is indexed yet.">
      <p>
        A payment appears here when its block is indexed. In development you can make one: fill in the address and the
        API secret that the server printed at its start.
      </p>
      <Copyable
        label="A request that makes a payment"
        text={`curl -sN -u "$INTEGRATION:$API_SECRET" -H "Content-Type: application/json" \\\n  -d '{"scenario":"success"}' ${origin}/api/v1/integration/trigger`}
      />
      <TestPayment {...test} />
    </Empty>
  )
}

const countAttempts = ({ attempts: { counts } }: Overview) => ({
  attempts: total(counts),
  delivered: total(counts.filter(({ kind }) => kind === 'delivered')),
})

const total = (counts: readonly { readonly count: number }[]) => counts.reduce((sum, { count }) => sum + count, 0)
