/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Integrations: their list, and the page of one with its acts. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { ConsoleIntegration } from '@payment-integration/core/ports'
import { ActForm } from '../view/act-form.js'
import { TextField } from '../view/fields.js'
import { Badge, Cell, Facts, hrefOf, Pager, Shown, Table, When } from '../view/parts.js'
import { IntegrationActs } from './integration-acts.js'
import { NoIntegrations, withoutQuery } from './operations.js'

/** The path of an integration's page, below the base. */
export const integrationPath = (address: string) => `/integrations/${address}`

const titles = ['State', 'Name', 'Address', 'Notification URL', 'Created', 'Signing secret', 'Rows']

/** Integrations, without their secrets. */
export function IntegrationsPage(props: {
  integrations: readonly ConsoleIntegration[]
  next: string | null
  now: number
}) {
  return (
    <>
      <h1>Integrations</h1>
      {props.integrations.length === 0 ? (
        <NoIntegrations />
      ) : (
        <Table label="Integrations" columns={titles.map((title) => ({ title }))}>
          {props.integrations.map((one) => (
            <IntegrationRow one={one} now={props.now} />
          ))}
        </Table>
      )}
      <Pager first={null} next={props.next} />
      <ActForm act="integration-create" label="Create the integration" needs="admin">
        <h2>New integration</h2>
        <TextField name="address" label="Address" hint="0x and 40 hex digits" isLong />
        <TextField name="name" label="Name" isOptional />
        <TextField name="url" label="Notification URL" hint="https://…" isOptional isLong />
      </ActForm>
    </>
  )
}

function IntegrationRow({ one, now }: { one: ConsoleIntegration; now: number }) {
  return (
    <tr>
      <Cell of="State">
        <StateOf one={one} />
      </Cell>
      <Cell of="Name">
        <Shown text={one.name} most={60} />
      </Cell>
      <Cell of="Address">
        <a class="hex whole" href={hrefOf(integrationPath(one.address), {})}>
          {one.address}
        </a>
      </Cell>
      <Cell of="Notification URL">
        <UrlOf one={one} />
      </Cell>
      <Cell of="Created">
        <When at={one.createdAt} withDate />
      </Cell>
      <Cell of="Signing secret">{signingOf(one, now)}</Cell>
      <Cell of="Rows">
        <RowsOf one={one} />
      </Cell>
    </tr>
  )
}

const StateOf = ({ one }: { one: Pick<IntegrationView, 'enabled'> }) => (
  <Badge word={one.enabled ? 'enabled' : 'disabled'} tone={one.enabled ? 'good' : 'bad'} />
)

const UrlOf = ({ one: { notificationUrl } }: { one: Pick<IntegrationView, 'notificationUrl'> }) =>
  notificationUrl === null ? <span class="dim">none</span> : <Shown text={withoutQuery(notificationUrl)} />

const RowsOf = ({ one: { address } }: { one: Pick<IntegrationView, 'address'> }) => (
  <>
    <a href={hrefOf('/payments', { integration: address })}>payments</a>{' '}
    <a href={hrefOf('/deliveries', { integration: address })}>deliveries</a>
  </>
)

const signingOf = (
  {
    signingSecretPrepared,
    previousSigningSecretUntil,
  }: Pick<IntegrationView, 'signingSecretPrepared' | 'previousSigningSecretUntil'>,
  now = 0,
) =>
  `${signingSecretPrepared ? 'a next one is prepared' : 'set'}${
    (previousSigningSecretUntil ?? 0) <= now ? '' : ', the previous one in its grace time'
  }`

/** One integration with its acts. */
export function IntegrationPage({ one }: { one: IntegrationView }) {
  const endOf = (until: number | null) => (until === null ? 'none' : <When at={until} withDate />)
  return (
    <>
      <h1>
        Integration <StateOf one={one} />
      </h1>
      <Facts
        rows={[
          ['Address', <code class="whole">{one.address}</code>, 'wide'],
          ['Name', <Shown text={one.name === '' ? 'none' : one.name} most={200} />, 'wide'],
          ['Notification URL', <UrlOf one={one} />, 'wide'],
          ['Created', <When at={one.createdAt} withDate />],
          ['API secret', 'set; only its hash is stored'],
          ['Previous API secret until', endOf(one.previousApiSecretUntil)],
          ['Signing secret', signingOf(one)],
          ['Previous signing secret until', endOf(one.previousSigningSecretUntil)],
          ['Rows', <RowsOf one={one} />],
        ]}
      />
      <div class="acts stacked">
        <IntegrationActs one={one} />
      </div>
    </>
  )
}
