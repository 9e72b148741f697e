/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Endpoints. @module */
import type { AttemptRecord, ConsoleIntegration, EndpointView } from '@payment-integration/core/ports'
import type { Given } from '../filters.js'
import type { LatencyStatistics } from '../live/overview.js'
import { adviceOf } from '../view/advice.js'
import { Filters } from '../view/forms.js'
import { Badge, Cell, Copyable, Empty, Hex, hrefOf, Pager, Shown, Table, When } from '../view/parts.js'
import { Answer } from '../view/rows.js'
import { latencyOf, spanOf } from '../view/text.js'

/** An integration's endpoint with its newest attempts. */
export interface EndpointDetail {
  readonly integration: ConsoleIntegration
  readonly latency: LatencyStatistics
  readonly lastFailure: (AttemptRecord & { readonly deliveryId: string }) | null
}

/** Endpoints: where deliveries go, and how that works. */
export function EndpointsPage(props: {
  given: Given
  endpoints: readonly EndpointDetail[]
  now: number
  next: string | null
}) {
  const titles = ['Health', 'Integration', 'URL', 'p50, p95', 'Failing for', 'Breaker', 'Last failure', 'What to do']
  return (
    <>
      <h1>Endpoints</h1>
      <Filters path="/endpoints" fields={filterFields} given={props.given} />
      {props.endpoints.length === 0 ? (
        props.given['health'] === 'failing' ? (
          <Empty title="No endpoint is failing." />
        ) : (
          <NoIntegrations />
        )
      ) : (
        <Table label="Endpoints" columns={titles.map((title) => ({ title }))}>
          {props.endpoints.map((endpoint) => (
            <EndpointRow {...endpoint} now={props.now} />
          ))}
        </Table>
      )}
      <Pager first={null} next={props.next} nextName="Further addresses" />
    </>
  )
}

const filterFields = [{ name: 'health', label: 'Health', options: [['failing', 'failing or blocked']] }] as const

function EndpointRow({ integration, latency, lastFailure, now }: EndpointDetail & { now: number }) {
  const { address, name, notificationUrl, health } = integration
  const advice = lastFailure === null ? null : adviceOf(lastFailure.status, lastFailure.reason)
  return (
    <tr>
      <Cell of="Health">
        <Badge word={healthOf(integration)} />
      </Cell>
      <Cell of="Integration">
        <Shown text={name} most={40} /> <Hex value={address} href={hrefOf('/deliveries', { integration: address })} />
      </Cell>
      <Cell of="URL">
        {notificationUrl === null ? <span class="dim">none</span> : <Shown text={withoutQuery(notificationUrl)} />}
      </Cell>
      <Cell of="p50, p95">
        <Latency {...latency} />
      </Cell>
      <Cell of="Failing for">
        {health?.failingSince == null ? (
          <span class="dim">not failing</span>
        ) : (
          `${spanOf(now - health.failingSince)}, ${health.failures} in a row`
        )}
      </Cell>
      <Cell of="Breaker">
        <Breaker health={health} now={now} />
      </Cell>
      <Cell of="Last failure">
        {lastFailure === null ? (
          <span class="dim">none of late</span>
        ) : (
          <>
            <Answer {...lastFailure} /> <When at={lastFailure.startedAt} withDate />
          </>
        )}
      </Cell>
      <Cell of="What to do">
        {advice === null ? (
          <span class="dim">nothing</span>
        ) : (
          `${advice.cause} ${health === null ? 'It answers again.' : advice.remedy}`
        )}
      </Cell>
    </tr>
  )
}

function Latency({ count, p50, p95 }: LatencyStatistics) {
  if (p50 === null || p95 === null) return <span class="dim">none yet</span>
  const spread = `${latencyOf(p50)}, ${latencyOf(p95)}`
  return <span title={`Of the ${count} answers and timeouts of its newest 50 deliveries`}>{spread}</span>
}

/** Whether deliveries are held back, and for how long. */
function Breaker({ health, now }: { health: EndpointView | null; now: number }) {
  if (health === null || health.blocks === 0 || health.blockedUntil === null) return <span class="dim">closed</span>
  const number = health.blocks === 1 ? '' : `, block ${health.blocks} in a row`
  if (health.blockedUntil <= now) return <>half-open: one attempt tests it{number}</>
  return (
    <>
      open until <When at={health.blockedUntil} />
      {number}; then one attempt tests it
    </>
  )
}

/** The word for an endpoint's health. */
export function healthOf({
  enabled,
  notificationUrl,
  health,
}: Pick<ConsoleIntegration, 'enabled' | 'notificationUrl' | 'health'>): string {
  if (!enabled) return 'disabled'
  if (notificationUrl === null) return 'no URL'
  if (health === null) return 'healthy'
  return health.blocks > 0 ? 'blocked' : 'failing'
}

/** A URL without its query, which may hold a key. */
export function withoutQuery(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : `${url.slice(0, query)}?…`
}

/** No integration is registered. */
export function NoIntegrations() {
  return (
    <Empty title="No integration is registered.">
      <p>An integration has an address, an API secret and a webhook secret. Create one:</p>
      <Copyable
        label="A command that creates an integration"
        text="payment-integration integrations create 0x1111111111111111111111111111111111111111 --url https://shop.example/hook"
      />
    </Empty>
  )
}
