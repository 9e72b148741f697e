/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The overview: what happens now. A number has a link where a list has exactly its kind of rows. @module */
import type { DatabaseSnapshot } from '@payment-integration/core/internal'
import type { Child } from 'hono/jsx'
import { chartData, maxEndpoints, type Overview, type StackedSeries } from '../live/overview.js'
import { buildHref, Copyable, Empty } from '../view/parts.js'
import { formatLatency, formatNumber, formatSpan } from '../view/text.js'
import { ChainTable } from './chains.js'
import type { Load } from './page.js'
import { TestPayment } from './tools.js'

/** Past this age of the oldest due delivery its number is marked, in milliseconds. */
const lateMs = 30_000

/** The page. Without any payment it says how to make the first one. */
export const overviewPage: Load = async ({ service: { queries }, sampler, url, tools }) => {
  const [overview, newest] = await Promise.all([sampler.overview(), queries.newest(1)])
  const isEmpty = newest.payments.length === 0
  const [integration] = isEmpty ? await queries.integrations({ limit: 1 }) : []
  const charts = chartData(overview)
  const formatMs = (ms: number | null) => (ms === null ? 'none' : formatLatency(ms))
  const body = (
    <>
      <h1>Overview</h1>
      {isEmpty ? (
        <FirstSteps origin={url.origin}>
          <TestPayment tools={tools} integration={integration} />
        </FirstSteps>
      ) : null}
      <div id="tiles" class="tiles">
        <Tiles overview={overview} />
      </div>
      <div class="charts">
        <Chart id="chart-payments" title="Payments per minute, by state" data={charts.payments} path="/payments" />
        <Chart id="chart-attempts" title="Attempts per minute, by outcome" data={charts.attempts} />
        <figure class="chart wide">
          <figcaption>
            Latency of the newest 400 attempts of the last hour{' '}
            <span class="dim">dots on a log axis; lines: p50, p95, and 5 s</span>
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
  return { title: 'Overview', section: '', body, live: 'topic=overview' }
}

/** The numbers at the top. */
export function Tiles({ overview }: { overview: Overview }) {
  const since = overview.at - 3_600_000
  const payments = total(overview.payments.counts)
  const attempts = total(overview.attempts.counts)
  const delivered = total(overview.attempts.counts.filter(({ kind }) => kind === 'delivered'))
  const { pending, oldestDueMs } = overview.backlog
  const { missing, oldSnapshot } = overview
  const more = (isCut: boolean) => (isCut ? '+' : '')
  return (
    <>
      <Tile
        name="Payments, last hour"
        value={`${formatNumber(payments)}${more(overview.payments.isCut)}`}
        href={buildHref('/payments', { since })}
      />
      <Tile
        name="Attempts that succeeded"
        value={attempts === 0 ? 'none yet' : `${((100 * delivered) / attempts).toFixed(1)} %`}
        note={`${formatNumber(attempts - delivered)} of ${formatNumber(attempts)}${more(overview.attempts.isCut)} failed`}
      />
      <Tile
        name="Latency p50, p95"
        value={
          overview.p50 === null ? 'none yet' : `${formatLatency(overview.p50)}, ${formatLatency(overview.p95 ?? 0)}`
        }
        note={`of the newest ${formatNumber(overview.dots.length)} attempts, last hour`}
      />
      <Tile
        name="In the outbox"
        value={`${formatNumber(pending)}${pending >= 10_000 ? '+' : ''}`}
        href={buildHref('/deliveries', { status: 'pending' })}
      />
      <Tile
        name="Oldest due delivery"
        value={oldestDueMs === null ? 'none' : formatSpan(oldestDueMs)}
        tone={oldestDueMs !== null && oldestDueMs > lateMs ? 'bad' : ''}
        href={buildHref('/deliveries', { status: 'pending' })}
      />
      <Tile
        name="Failing endpoints"
        value={`${formatNumber(overview.endpoints.length)}${more(overview.endpoints.length >= maxEndpoints)}`}
        tone={overview.endpoints.length > 0 ? 'bad' : ''}
        href={buildHref('/endpoints', { health: 'failing' })}
      />
      {missing === 0 ? null : (
        <Tile
          name="Missing deliveries"
          value={formatNumber(missing)}
          note="neither sent nor in the outbox, as after a restore: run deliveries check --repair"
          tone="bad"
          href={buildHref('/deliveries', { status: 'missing' })}
        />
      )}
      {oldSnapshot === null ? null : (
        <Tile
          name="Open database snapshot"
          value={formatSpan(oldSnapshot.ageMs)}
          note={`slows deliveries until it ends: ${nameHolder(oldSnapshot)}`}
          tone="bad"
        />
      )}
    </>
  )
}

/** Names who keeps a snapshot open. */
function nameHolder({ holder, application, databaseUser }: DatabaseSnapshot): string {
  const user = databaseUser === null ? '' : `, database user ${databaseUser}`
  return `${holder} ${application === '' ? 'without a name' : application}${user}`
}

/** Without `href`: no list has its rows. */
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

/** @param path - The list with its rows, filtered by state; without it there is none: attempts are in no list. */
function Chart({ id, title, data, path }: { id: string; title: string; data: StackedSeries; path?: string }) {
  const since = (data.minutes[0] ?? 0) * 1_000
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div id={id} class="plot" data-path={path === undefined ? undefined : buildHref(path)}></div>
      <details>
        <summary>Totals of the last hour</summary>
        {data.series.length === 0 ? (
          <p class="dim">Nothing happened.</p>
        ) : (
          <ul class="totals">
            {data.series.map(({ name, values }) => (
              <li>
                <Total
                  values={values}
                  href={path === undefined ? undefined : buildHref(path, { since, state: name })}
                />{' '}
                {name.replaceAll('_', ' ')}
              </li>
            ))}
          </ul>
        )}
      </details>
    </figure>
  )
}

function Total({ values, href }: { values: readonly number[]; href: string | undefined }) {
  const sum = formatNumber(values.reduce((total, value) => total + value, 0))
  return href === undefined ? sum : <a href={href}>{sum}</a>
}

function FirstSteps({ origin, children }: { origin: string; children?: Child }) {
  return (
    <Empty title="No payment is indexed yet.">
      <p>
        A payment appears here when its block is indexed. In development, a scenario makes one; put in the address and
        the API secret that the start printed.
      </p>
      <Copyable
        label="A request that makes a payment"
        text={`curl -sN -u "$INTEGRATION:$API_SECRET" -H "Content-Type: application/json" \\\n  -d '{"scenario":"success"}' ${origin}/api/v1/integration/trigger`}
      />
      {children}
    </Empty>
  )
}

const total = (counts: readonly { readonly count: number }[]) => counts.reduce((sum, { count }) => sum + count, 0)
