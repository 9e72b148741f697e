/** Endpoints that receive deliveries, and their health. @module */
import type { AttemptRecord, ConsoleIntegration, EndpointView } from '@payment-integration/core/internal'
import type { Child } from 'hono/jsx'
import { type LatencyStatistics, latencyStatistics } from '../live/overview.js'
import { findAdvice } from '../view/advice.js'
import { Filters } from '../view/forms.js'
import { Badge, buildHref, Copyable, Dim, Empty, Hex, Pager, Shown, Table, When } from '../view/parts.js'
import { Answer, ReplayLink } from '../view/rows.js'
import { formatCount, formatLatency, formatSpan } from '../view/text.js'
import { type Load, readIntegrationsPage } from './page.js'

const section = '/endpoints'
const filterFields = [{ name: 'health', label: 'Health', options: [['failing', 'failing or blocked']] }] as const
/** The endpoints on one page; each needs two reads. */
const size = 20

export const endpointsPage: Load = async ({ service: { queries }, clock }, query) => {
  const isFailing = query['health'] === 'failing'
  const { rows, next } = await readIntegrationsPage(queries, query, section, { size, isFailing })
  const endpoints = await Promise.all(
    rows.map(async (integration) => {
      const { address } = integration
      const [lastFailure, latencies] = await Promise.all([queries.lastFailure(address), queries.latencies(address)])
      return { ...integration, lastFailure, latency: latencyStatistics(latencies) }
    }),
  )
  const at = clock.now()
  const body = (
    <>
      <h1>Endpoints</h1>
      <Filters action={buildHref(section)} fields={filterFields} values={query} />
      <Table
        label="Endpoints"
        rows={endpoints}
        columns={[
          ['Health', (endpoint) => <Badge word={describeHealth(endpoint)} />],
          [
            'Integration',
            ({ name, address }) => (
              <>
                <Shown text={name} max={40} />{' '}
                <Hex value={address} href={buildHref('/deliveries', { integration: address })} />
              </>
            ),
          ],
          ['URL', showUrl],
          ['Response p50, p95', ({ latency }) => showSpread(latency)],
          ['Failing for', ({ health }) => showFailing(health, at)],
          ['Last failure', ({ lastFailure }) => showFailure(lastFailure, buildHref) ?? <Dim>none recently</Dim>],
          ['What to do', (endpoint) => describeRemedy(endpoint) ?? <Dim>nothing</Dim>],
        ]}
        empty={isFailing ? <Empty title="No endpoint is failing." /> : <NoIntegrations />}
      />
      <Pager first={null} next={next} nextName="Further addresses" />
    </>
  )
  return { title: 'Endpoints', section, body }
}

function showSpread({ count, p50, p95 }: LatencyStatistics): Child {
  if (p50 === null || p95 === null) return <Dim>none yet</Dim>
  const spread = `${formatLatency(p50)}, ${formatLatency(p95)}`
  return <span title={`Over ${count} answers and timeouts of the newest 50 sent deliveries`}>{spread}</span>
}

export type LastFailure = (AttemptRecord & { readonly deliveryId: string }) | null

export const showFailure = (failure: LastFailure, toHref: typeof buildHref): Child =>
  failure && (
    <>
      <Answer {...failure} /> <When at={failure.startedAt} withDate />
      <div>
        <ReplayLink id={failure.deliveryId} toHref={toHref} />
      </div>
    </>
  )

export function describeRemedy({ lastFailure, health }: { lastFailure: LastFailure; health: EndpointView | null }) {
  const advice = lastFailure && findAdvice(lastFailure.status, lastFailure.reason)
  return advice && (health === null ? 'It has recovered since.' : advice)
}

export function showFailing(health: EndpointView | null, now: number): Child {
  if (health === null) return <Dim>not failing</Dim>
  const span = `${formatSpan(now - health.failingSince)}, ${formatCount(health.failures, 'failure')} in a row`
  if (health.blocks === 0 || health.blockedUntil === null) return span
  if (health.blockedUntil <= now) return `${span}; one attempt tests it now`
  return (
    <>
      {span}; blocked until <When at={health.blockedUntil} />, then one attempt tests it
    </>
  )
}

export function describeHealth(one: Pick<ConsoleIntegration, 'enabled' | 'notificationUrl' | 'health'>): string {
  if (!one.enabled) return 'disabled'
  if (one.notificationUrl === null) return 'no URL'
  if (one.health === null) return 'healthy'
  return one.health.blocks > 0 ? 'blocked' : 'failing'
}

/** A notification URL without its query, which may hold a key. */
export function showUrl({ notificationUrl: url }: Pick<ConsoleIntegration, 'notificationUrl'>): Child {
  if (url === null) return <Dim>none</Dim>
  const query = url.indexOf('?')
  return <Shown text={query === -1 ? url : `${url.slice(0, query)}?…`} />
}

export const NoIntegrations = () => (
  <Empty title="No integration is registered.">
    <p>An integration has an address, an API secret and a webhook secret. Create one:</p>
    <Copyable
      label="A command that creates an integration"
      text="payment-integration integrations create 0x1111111111111111111111111111111111111111 --url https://shop.example/hook"
    />
  </Empty>
)
