/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Integrations and their acts; new secrets appear only in a form's answer. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { ActorCommands } from '@payment-integration/core/internal'
import type { Child } from 'hono/jsx'
import { ActForm, type ActFormProps, TextField } from '../view/forms.js'
import { buildHref, Dim, EnabledBadge, Facts, Hex, newSecretsPage, Pager, Shown, Table, When } from '../view/parts.js'
import { nameChain } from '../view/text.js'
import { NoIntegrations, showUrl } from './endpoints.js'
import type { Act, ActInput, Load, Note } from './page.js'
import { actsFor, confirmedField, findIntegration, graceField, integrationsAfter, requiredField } from './page.js'

const section = '/integrations'
const integrationPath = (address: string) => `${section}/${address}`

export const integrationsPage: Load = async ({ service, now }, query) => {
  const { rows, next } = await integrationsAfter(service.queries, query, section)
  const at = now()
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

function describeSigning(one: Pick<IntegrationView, 'signingSecretPrepared' | 'previousSigningSecretUntil'>, now = 0) {
  const isGrace = (one.previousSigningSecretUntil ?? 0) > now
  return `${one.signingSecretPrepared ? 'set, the next one is prepared' : 'set'}${isGrace ? ', the previous one in its grace time' : ''}`
}

export const integrationPage: Load = async ({ service }, _, name) => {
  const one = await findIntegration(service, name)
  if (one === null) return null
  const showEnd = (until: number | null) => (until === null ? 'none' : <When at={until} withDate />)
  const body = (
    <>
      <h1>
        <Shown text={one.name === '' ? 'Integration' : one.name} /> <EnabledBadge {...one} />
      </h1>
      <Facts
        rows={[
          ['Address', <Hex value={one.address} isWhole />, 'wide'],
          ['Notification URL', showUrl(one), 'wide'],
          ['API secret', 'set; only its hash is stored'],
          ['Previous API secret until', showEnd(one.previousApiSecretUntil)],
          ['Signing secret', describeSigning(one)],
          ['Previous signing secret until', showEnd(one.previousSigningSecretUntil)],
          ['Created', <When at={one.createdAt} withDate />],
          [
            'Lists',
            <>
              <a href={buildHref('/payments', { integration: one.address })}>payments</a>,{' '}
              <a href={buildHref('/deliveries', { integration: one.address })}>deliveries</a>
            </>,
          ],
        ]}
      />
      <div class="acts stacked">
        <IntegrationActs one={one} />
      </div>
    </>
  )
  return { title: 'Integration', section, body }
}

function IntegrationActs({ one }: { one: IntegrationView }) {
  const ActOfOne = (form: Omit<ActFormProps, 'needs' | 'fields'>) => (
    <ActForm {...form} needs="admin" fields={{ address: one.address }} />
  )
  const url = one.notificationUrl ?? ''
  const urlProps = /[?@]/.test(url) ? { hint: 'set; hidden, as it may hold a secret' } : { value: url }
  return (
    <>
      <h2>Notification URL</h2>
      <ActOfOne act="integration-url" label="Save the URL">
        <TextField name="url" label="Notification URL; an empty one stops deliveries" {...urlProps} isOptional isLong />
      </ActOfOne>
      <h2>API secret</h2>
      {one.previousApiSecretUntil === null ? (
        <ActOfOne act="integration-rotate" label="Replace the API secret" hasGrace />
      ) : (
        <ActOfOne act="integration-end-api" label="End the old API secret" confirm="All servers have switched" />
      )}
      <h2>Signing secret</h2>
      {one.signingSecretPrepared ? (
        <>
          <ActOfOne act="integration-activate" label="Activate the signing secret" hasGrace />
          <ActOfOne act="integration-abort" label="Delete the prepared signing secret" tone="danger" />
        </>
      ) : (
        <ActOfOne act="integration-prepare" label="Prepare a signing secret" />
      )}
      {one.previousSigningSecretUntil === null ? null : (
        <ActOfOne act="integration-end-signing" label="End the old signing secret" confirm="Receivers have switched" />
      )}
      <h2>{one.enabled ? 'Disable' : 'Enable'} the integration</h2>
      {one.enabled ? (
        <ActOfOne act="integration-disable" label="Disable" confirm="Requests get 401, deliveries wait, sessions end" />
      ) : (
        <ActOfOne act="integration-enable" label="Enable" />
      )}
    </>
  )
}

type Commands = ActorCommands['integrations']
const readAddress = ({ fields }: ActInput) => requiredField(fields, 'address').toLowerCase()

function change(
  note: Note,
  run: (commands: Commands, address: string, fields: ActInput['fields']) => Promise<unknown>,
  isConfirmed = false,
): Act['run'] {
  return async (input) => {
    if (isConfirmed) confirmedField(input.fields)
    const address = readAddress(input)
    await run(input.commands.integrations, address, input.fields)
    return { to: integrationPath(address), note }
  }
}

export const integrationActs = actsFor('admin', {
  'integration-create': create,
  'integration-enable': change('integration-enabled', (own, address) => own.setEnabled(address, true)),
  'integration-disable': change('integration-disabled', (own, address) => own.setEnabled(address, false), true),
  'integration-url': change('url-set', (own, address, { url = null }) => own.setNotificationUrl(address, url)),
  'integration-rotate': rotate,
  'integration-end-api': change('api-ended', (own, address) => own.endPreviousApiSecret(address), true),
  'integration-prepare': prepare,
  'integration-activate': change('signing-activated', (own, address, fields) =>
    own.activateSigningSecret(address, { graceMs: graceField(fields) }),
  ),
  'integration-abort': change('signing-aborted', (own, address) => own.abortSigningSecret(address)),
  'integration-end-signing': change('signing-ended', (own, address) => own.endPreviousSigningSecret(address), true),
})

const showSecrets = (
  title: string,
  address: string,
  secrets: Readonly<Record<string, string>>,
  instructions: Child,
) => ({
  show: newSecretsPage({ title, section, to: integrationPath(address), secrets }, instructions),
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
          Payments in earlier blocks are not recorded. If it has any, read blocks {from} to {to} again on{' '}
          <a href={`${buildHref('/chains')}#chain-${chainId}`}>{nameChain(chainId)}</a>.
        </p>
      ))}
    </>
  )
  return showSecrets('The integration is created', address, secrets, instructions)
}

/** Rotates the API secret. A reload posts the form again, which must not end a secret that still works. */
async function rotate(input: ActInput) {
  const address = readAddress(input)
  const graceMs = graceField(input.fields)
  const { apiSecret } = await input.commands.integrations.rotateApiSecret(address, { graceMs, keepsPrevious: true })
  const instructions = `The previous secret stays valid for ${graceMs / 3_600_000} hours. The page of the integration has a form that ends it sooner.`
  return showSecrets('The API secret is replaced', address, { 'API secret': apiSecret }, instructions)
}

/** Prepares a signing secret; no page shows it twice. */
async function prepare(input: ActInput) {
  const address = readAddress(input)
  const { signingSecret } = await input.commands.integrations.prepareSigningSecret(address, { isShownAgain: false })
  const instructions =
    'Add it to the receiver and keep the present one there. Deliveries are signed with the present secret until you activate this one.'
  return showSecrets('The next signing secret is prepared', address, { 'Signing secret': signingSecret }, instructions)
}
