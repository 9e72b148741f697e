/** Integrations and their acts; new secrets appear only in a form's answer. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { ConsoleIntegration } from '@payment-integration/core/internal'
import { createIntegrationScope } from '../portal/integration-scope.js'
import type { PortalForm } from '../portal/page.js'
import { createSecretActs, SecretForms } from '../portal/secrets.js'
import { ActForm, TextField } from '../view/forms.js'
import { buildHref, Dim, EnabledBadge, Facts, Hex, newSecretsPage, Pager, Shown, Table, When } from '../view/parts.js'
import { nameChain } from '../view/text.js'
import { NoIntegrations, showUrl } from './endpoints.js'
import type { Act, ActInput, Load, Note } from './page.js'
import { actsFor, checkConfirmed, findIntegration, readIntegrationsPage, requiredField } from './page.js'

const section = '/integrations'
const integrationPath = (address: string) => `${section}/${address}`

export const integrationsPage: Load = async ({ service, clock }, query) => {
  const { rows, next } = await readIntegrationsPage(service.queries, query, section)
  const at = clock.now()
  const body = (
    <>
      <h1>Integrations</h1>
      <Table
        label="Integrations"
        rows={rows}
        columns={[
          ['State', EnabledBadge],
          ['Name', ({ name }) => (name === '' ? <Dim>none</Dim> : <Shown text={name} max={60} />)],
          ['Address', ({ address }) => <Hex value={address} href={buildHref(integrationPath(address))} />],
          ['Notification URL', showUrl],
          ['Created', ({ createdAt }) => <When at={createdAt} withDate />],
          ['Signing secret', (one) => describeSigning(one, at)],
        ]}
        empty={<NoIntegrations />}
      />
      <Pager first={null} next={next} />
      <ActForm act="integration-create" label="Create the integration" needs="admin">
        <h2>New integration</h2>
        <TextField name="address" label="Address" hint="0x and 40 hex digits" isLong />
        <TextField name="name" label="Name" isOptional />
        <TextField name="url" label="Notification URL" hint="https://…" isOptional isLong />
      </ActForm>
    </>
  )
  return { title: 'Integrations', section, body }
}

function describeSigning({ signingSecretPrepared, previousSigningSecretUntil }: ConsoleIntegration, now: number) {
  const next = signingSecretPrepared ? ', the next one is prepared' : ''
  const previous = (previousSigningSecretUntil ?? 0) > now ? ', the previous one in its grace time' : ''
  return `set${next}${previous}`
}

export const integrationPage: Load = async ({ service }, _, name) => {
  const integration = await findIntegration(service, name)
  if (integration === null) return null
  const body = (
    <>
      <h1>
        <Shown text={integration.name === '' ? 'Integration' : integration.name} /> <EnabledBadge {...integration} />
      </h1>
      <Facts
        rows={[
          ['Address', <Hex value={integration.address} isWhole />, 'wide'],
          ['Notification URL', showUrl(integration), 'wide'],
          ['Created', <When at={integration.createdAt} withDate />],
          [
            'Lists',
            <>
              <a href={buildHref('/payments', { integration: integration.address })}>payments</a>,{' '}
              <a href={buildHref('/deliveries', { integration: integration.address })}>deliveries</a>
            </>,
          ],
        ]}
      />
      <div class="acts stacked">
        <IntegrationActs integration={integration} />
      </div>
    </>
  )
  return { title: 'Integration', section, body }
}

function IntegrationActs({ integration }: { integration: IntegrationView }) {
  const Form: typeof PortalForm = ({ act, ...form }) => (
    <ActForm {...form} act={`integration-${act}`} needs="admin" fields={{ address: integration.address }} />
  )
  const url = integration.notificationUrl ?? ''
  const urlProps = /[?@]/.test(url) ? { hint: 'set; hidden, as it may hold a secret' } : { value: url }
  return (
    <>
      <h2>Notification URL</h2>
      <Form act="url" label="Save the URL">
        <TextField name="url" label="Notification URL; an empty one stops deliveries" {...urlProps} isOptional isLong />
      </Form>
      <SecretForms of={integration} Form={Form} />
      <h2>{integration.enabled ? 'Disable' : 'Enable'} the integration</h2>
      {integration.enabled ? (
        <Form act="disable" label="Disable" confirm="Requests get 401, deliveries wait, sessions end" />
      ) : (
        <Form act="enable" label="Enable" />
      )}
    </>
  )
}

const readAddress = ({ fields }: ActInput) => requiredField(fields, 'address').toLowerCase()

function change(note: Note, run: (input: ActInput, address: string) => Promise<unknown>): Act['run'] {
  return async (input) => {
    const address = readAddress(input)
    await run(input, address)
    return { to: integrationPath(address), note }
  }
}

/** The portal's acts on secrets, in the name of the admin. */
const secretActs = Object.entries(
  createSecretActs((address) => ({ section, to: integrationPath(address), toHref: buildHref })),
).map(([name, run]) => {
  const runAsAdmin: Act['run'] = async (input) =>
    run(createIntegrationScope(input.service, readAddress(input), input.visit.actor), input.fields)
  return [`integration-${name}`, runAsAdmin] as const
})

export const integrationActs = actsFor('admin', {
  'integration-create': create,
  'integration-enable': change('integration-enabled', ({ commands }, address) =>
    commands.integrations.setEnabled(address, true),
  ),
  'integration-disable': change('integration-disabled', async ({ commands, fields }, address) => {
    checkConfirmed(fields)
    await commands.integrations.setEnabled(address, false)
  }),
  'integration-url': change('url-set', ({ commands, fields: { url = null } }, address) =>
    commands.integrations.setNotificationUrl(address, url),
  ),
  ...Object.fromEntries(secretActs),
})

async function create(input: ActInput) {
  const { name, url = null } = input.fields
  const created = await input.commands.integrations.create({ address: readAddress(input), name, notificationUrl: url })
  const { address } = created.integration
  const secrets = { 'API secret': created.apiSecret, 'Signing secret': created.signingSecret }
  const instructions = (
    <>
      The receiver checks notifications with the signing secret. If one is lost, replace it. The API secret is the
      password of <Hex value={address} isWhole />
      {created.unrecorded.map(({ chainId, from, to }) => (
        <p>
          Payments in earlier blocks are not recorded. If there are any, read blocks {from} to {to} again on{' '}
          <a href={`${buildHref('/chains')}#chain-${chainId}`}>{nameChain(chainId)}</a>.
        </p>
      ))}
    </>
  )
  const shown = { title: 'The integration is created', section, to: integrationPath(address), secrets }
  return { show: newSecretsPage(shown, instructions) }
}
