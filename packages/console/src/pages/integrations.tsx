/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Integrations, and one with its acts. New secrets are in the answer of the form, and on no other page. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { ConsoleIntegration } from '@payment-integration/core/ports'
import { ActForm, type ActFormProps, ConfirmField, GraceField, TextField } from '../view/forms.js'
import { Badge, Cell, Facts, hrefOf, NewSecretsPage, Pager, Shown, Table, When } from '../view/parts.js'
import { NoIntegrations, withoutQuery } from './endpoints.js'
import {
  type Act,
  type ActAnswer,
  type ActInput,
  confirmedField,
  graceField,
  type Note,
  requiredField,
} from './page.js'

/** The path of an integration's page, below the base. */
const integrationPath = (address: string) => `/integrations/${address}`

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

/** The forms that fit its state. */
function IntegrationActs({ one }: { one: IntegrationView }) {
  const Act = (form: Omit<ActFormProps, 'needs' | 'fields'>) => (
    <ActForm {...form} needs="admin" fields={{ address: one.address }} />
  )
  return (
    <>
      <Act act="integration-url" label="Set the URL">
        <TextField name="url" label="New notification URL; empty: none" hint="https://…" isOptional isLong />
      </Act>
      {one.previousApiSecretUntil === null ? (
        <Act act="integration-rotate" label="Replace the API secret">
          <GraceField />
        </Act>
      ) : (
        <Act act="integration-end-api" label="End the previous API secret" tone="danger">
          <ConfirmField label="Each of its servers has the new API secret" />
        </Act>
      )}
      {one.signingSecretPrepared ? (
        <>
          <Act act="integration-activate" label="Activate the signing secret">
            <GraceField />
          </Act>
          <Act act="integration-abort" label="Delete the prepared signing secret" tone="danger" />
        </>
      ) : (
        <Act act="integration-prepare" label="Prepare a signing secret" />
      )}
      {one.previousSigningSecretUntil === null ? null : (
        <Act act="integration-end-signing" label="End the previous signing secret" tone="danger">
          <ConfirmField label="Each of its receivers has the new signing secret" />
        </Act>
      )}
      {one.enabled ? (
        <Act act="integration-disable" label="Disable" tone="danger">
          <ConfirmField label="Its requests are answered 401, its deliveries wait, its sessions end" />
        </Act>
      ) : (
        <Act act="integration-enable" label="Enable" />
      )}
    </>
  )
}

const section = '/integrations'
const addressOf = ({ fields }: Pick<ActInput, 'fields'>) => requiredField(fields, 'address').toLowerCase()

/** The acts, by their names in the address. */
export const integrationActs: Readonly<Record<string, Act>> = {
  'integration-create': { needs: 'admin', run: create },
  'integration-enable': { needs: 'admin', run: (input) => setEnabled(input, true) },
  'integration-disable': { needs: 'admin', run: disable },
  'integration-url': { needs: 'admin', run: setUrl },
  'integration-rotate': { needs: 'admin', run: rotate },
  'integration-end-api': { needs: 'admin', run: endApiSecret },
  'integration-prepare': { needs: 'admin', run: prepare },
  'integration-activate': { needs: 'admin', run: activate },
  'integration-abort': { needs: 'admin', run: abort },
  'integration-end-signing': { needs: 'admin', run: endSigningSecret },
}

async function create(input: ActInput): Promise<ActAnswer> {
  const { fields, commands } = input
  const { integration, apiSecret, signingSecret } = await commands.integrations.create({
    address: addressOf(input),
    name: fields['name'],
    notificationUrl: fields['url'] ?? null,
  })
  const title = 'The integration is created'
  const body = (
    <NewSecretsPage
      title={title}
      to={integrationPath(integration.address)}
      secrets={[
        ['API secret', apiSecret],
        ['Signing secret', signingSecret],
      ]}
    >
      <p>
        The API secret is the password of <code class="whole">{integration.address}</code>. The receiver checks
        notifications with the signing secret. If one is lost, replace it.
      </p>
    </NewSecretsPage>
  )
  return { show: { title, section, body } }
}

async function setEnabled(input: ActInput, enabled: boolean): Promise<ActAnswer> {
  const { address } = await input.commands.integrations.setEnabled(addressOf(input), enabled)
  return { to: integrationPath(address), note: enabled ? 'integration-enabled' : 'integration-disabled' }
}

async function disable(input: ActInput): Promise<ActAnswer> {
  confirmedField(input.fields)
  return setEnabled(input, false)
}

async function setUrl(input: ActInput): Promise<ActAnswer> {
  const { address } = await input.commands.integrations.setNotificationUrl(
    addressOf(input),
    input.fields['url'] ?? null,
  )
  return { to: integrationPath(address), note: 'url-set' }
}

/** A reload of the answer posts the form again: it must not end the secret that still works. */
async function rotate(input: ActInput): Promise<ActAnswer> {
  const address = addressOf(input)
  const graceMs = graceField(input.fields)
  const { apiSecret } = await input.commands.integrations.rotateApiSecret(address, { graceMs, keepsPrevious: true })
  const title = 'The API secret is replaced'
  const body = (
    <NewSecretsPage title={title} to={integrationPath(address)} secrets={[['API secret', apiSecret]]}>
      <p>
        The previous secret stays valid for {graceMs / 3_600_000} hours. The page of the integration has a form that
        ends it sooner.
      </p>
    </NewSecretsPage>
  )
  return { show: { title, section, body } }
}

async function endApiSecret(input: ActInput): Promise<ActAnswer> {
  confirmedField(input.fields)
  const address = addressOf(input)
  await input.commands.integrations.endPreviousApiSecret(address)
  return to(address, 'api-ended')
}

/** Issues the next signing secret. No page shows a secret twice. */
async function prepare(input: ActInput): Promise<ActAnswer> {
  const address = addressOf(input)
  const { signingSecret } = await input.commands.integrations.prepareSigningSecret(address, { isShownAgain: false })
  const title = 'The next signing secret is prepared'
  const body = (
    <NewSecretsPage title={title} to={integrationPath(address)} secrets={[['Signing secret', signingSecret]]}>
      <p>
        Add it to the receiver and keep the present one there. Deliveries are signed with the present secret until you
        activate this one.
      </p>
    </NewSecretsPage>
  )
  return { show: { title, section, body } }
}

const to = (address: string, note: Note): ActAnswer => ({ to: integrationPath(address), note })

async function activate(input: ActInput): Promise<ActAnswer> {
  const address = addressOf(input)
  await input.commands.integrations.activateSigningSecret(address, { graceMs: graceField(input.fields) })
  return to(address, 'signing-activated')
}

async function abort(input: ActInput): Promise<ActAnswer> {
  const address = addressOf(input)
  await input.commands.integrations.abortSigningSecret(address)
  return to(address, 'signing-aborted')
}

async function endSigningSecret(input: ActInput): Promise<ActAnswer> {
  confirmedField(input.fields)
  const address = addressOf(input)
  await input.commands.integrations.endPreviousSigningSecret(address)
  return to(address, 'signing-ended')
}
