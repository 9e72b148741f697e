/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Endpoints, integrations, the audit log, settings, and errors. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { AttemptRecord, AuditRecord, EndpointView } from '@payment-integration/core/ports'
import type { Child } from 'hono/jsx'
import { adviceOf } from '../advice.js'
import { Badge, Cell, Copyable, Empty, Hex, hrefOf, Pager, Shown, Table, When } from '../view/parts.js'
import { Answer } from '../view/rows.js'
import { spanOf } from '../view/text.js'

/** An integration's endpoint with its newest failure. */
export interface EndpointDetail {
  readonly integration: IntegrationView
  readonly health: EndpointView | null
  readonly lastFailure: (AttemptRecord & { readonly deliveryId: string }) | null
}

/** Endpoints: where deliveries go, and how that works. */
export function EndpointsPage(props: { endpoints: readonly EndpointDetail[]; now: number; next: string | null }) {
  const titles = ['Health', 'Integration', 'URL', 'Failing for', 'Blocked until', 'Last failure', 'What to do']
  return (
    <>
      <h1>Endpoints</h1>
      {props.endpoints.length === 0 ? (
        <NoIntegrations />
      ) : (
        <Table label="Endpoints" columns={titles.map((title) => ({ title }))}>
          {props.endpoints.map((endpoint) => (
            <EndpointRow {...endpoint} now={props.now} />
          ))}
        </Table>
      )}
      <Pager first={null} next={props.next} />
    </>
  )
}

function EndpointRow({ integration, health, lastFailure, now }: EndpointDetail & { now: number }) {
  const { address, name, notificationUrl } = integration
  const advice = lastFailure === null ? null : adviceOf(lastFailure.status, lastFailure.reason)
  return (
    <tr>
      <Cell of="Health">
        <Badge word={healthOf(integration, health)} />
      </Cell>
      <Cell of="Integration">
        <Shown text={name} most={40} /> <Hex value={address} href={hrefOf('/deliveries', { integration: address })} />
      </Cell>
      <Cell of="URL">{notificationUrl === null ? <span class="dim">none</span> : <Shown text={withoutQuery(notificationUrl)} />}</Cell>
      <Cell of="Failing for">
        {health?.failingSince == null ? <span class="dim">not failing</span> : `${spanOf(now - health.failingSince)}, ${health.failures} in a row`}
      </Cell>
      <Cell of="Blocked until">{health?.blockedUntil == null ? <span class="dim">not blocked</span> : <When at={health.blockedUntil} />}</Cell>
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
        {advice === null ? <span class="dim">nothing</span> : `${advice.cause} ${health === null ? 'It answers again.' : advice.remedy}`}
      </Cell>
    </tr>
  )
}

function healthOf({ enabled, notificationUrl }: IntegrationView, health: EndpointView | null): string {
  if (!enabled) return 'disabled'
  if (notificationUrl === null) return 'no URL'
  if (health === null) return 'healthy'
  return health.blocks > 0 ? 'blocked' : 'failing'
}

/** A URL's query may hold a key. */
function withoutQuery(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : `${url.slice(0, query)}?…`
}

function NoIntegrations() {
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

/** Integrations, without their secrets. */
export function IntegrationsPage({ integrations, next }: { integrations: readonly IntegrationView[]; next: string | null }) {
  const titles = ['State', 'Name', 'Address', 'Notification URL', 'Created', 'Signing secret', 'Rows']
  return (
    <>
      <h1>Integrations</h1>
      {integrations.length === 0 ? (
        <NoIntegrations />
      ) : (
        <Table label="Integrations" columns={titles.map((title) => ({ title }))}>
          {integrations.map((one) => (
            <tr>
              <Cell of="State">
                <Badge word={one.enabled ? 'enabled' : 'disabled'} tone={one.enabled ? 'good' : 'bad'} />
              </Cell>
              <Cell of="Name">
                <Shown text={one.name} most={60} />
              </Cell>
              <Cell of="Address">
                <code class="whole">{one.address}</code>
              </Cell>
              <Cell of="Notification URL">
                {one.notificationUrl === null ? <span class="dim">none</span> : <Shown text={withoutQuery(one.notificationUrl)} />}
              </Cell>
              <Cell of="Created">
                <When at={one.createdAt} withDate />
              </Cell>
              <Cell of="Signing secret">
                {one.signingSecretPrepared ? 'a next one is prepared' : 'set'}
                {one.previousSigningSecretUntil === null ? '' : ', the previous one in its grace time'}
              </Cell>
              <Cell of="Rows">
                <a href={hrefOf('/payments', { integration: one.address })}>payments</a>{' '}
                <a href={hrefOf('/deliveries', { integration: one.address })}>deliveries</a>
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      <Pager first={null} next={next} />
    </>
  )
}

/** The audit log, newest first. */
export function AuditPage(props: { records: readonly AuditRecord[]; isFirst: boolean; next: string | null }) {
  const titles = ['No.', 'Time', 'Actor', 'Action', 'Subject', 'Details']
  return (
    <>
      <h1>Audit log</h1>
      {props.records.length === 0 ? (
        <Empty title="Nothing was changed yet.">
          <p>Each change of secrets, URLs, deliveries and verifications leaves a record here, chained by a keyed hash.</p>
        </Empty>
      ) : (
        <Table label="Audit log" columns={titles.map((title, index) => ({ title, isNumber: index === 0 }))}>
          {props.records.map((record) => (
            <tr>
              <Cell of="No." isNumber>
                {record.seq}
              </Cell>
              <Cell of="Time">
                <When at={record.at} withDate />
              </Cell>
              <Cell of="Actor">
                <Shown text={String(record.actor)} most={60} />
              </Cell>
              <Cell of="Action">
                <Shown text={record.action} most={60} />
              </Cell>
              <Cell of="Subject">
                <Shown text={String(record.subject)} most={80} />
              </Cell>
              <Cell of="Details">
                <Shown text={detailsOf(record)} />
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      <Pager first={props.isFirst ? null : hrefOf('/audit', {})} next={props.next} />
      <p class="dim">
        Check the whole chain with <code>payment-integration audit verify</code>.
      </p>
    </>
  )
}

/** An altered record may hold any text. */
function detailsOf({ details }: AuditRecord): string {
  if (typeof details !== 'object' || details === null) return String(details)
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
}

/** The configuration with its secrets masked. */
export function SettingsPage({ config }: { config: object | null }) {
  return (
    <>
      <h1>Settings</h1>
      {config === null ? (
        <Empty title="The host passed no settings.">
          <p>Pass a description without secrets as the option config of createConsole.</p>
        </Empty>
      ) : (
        <>
          <p class="dim">As this process started. Secrets are counted, and URLs are cut to their host.</p>
          <Settings value={config} />
        </>
      )}
    </>
  )
}

function Settings({ value }: { value: object }) {
  return (
    <dl class="facts wide">
      {Object.entries(value).map(([name, each]) => (
        <div>
          <dt>{name}</dt>
          <dd>{settingOf(each)}</dd>
        </div>
      ))}
    </dl>
  )
}

function settingOf(value: unknown): Child {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object'))
    return value.length === 0 ? 'none' : value.join(', ')
  if (Array.isArray(value)) return value.map((each: object) => <Settings value={each} />)
  return typeof value === 'object' ? <Settings value={value} /> : <Shown text={String(value)} />
}

/** A request that leads to no page. */
export function ErrorPage({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h1>{title}</h1>
      <p>
        <Shown text={text} most={400} />
      </p>
      <p>
        <a href={hrefOf('', {})}>Back to the overview</a>
      </p>
    </>
  )
}
