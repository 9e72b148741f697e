/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Acts on integrations. New secrets are in the answer of the form, and on no other page. @module */
import { FilterError } from '../filters.js'
import { integrationPath } from '../pages/integrations.js'
import { SecretsPage } from '../pages/secrets.js'
import type { Act, ActAnswer, ActInput, Note } from './act.js'
import { graceField, requiredField } from './fields.js'

const section = '/integrations'
const addressOf = ({ fields }: Pick<ActInput, 'fields'>) => requiredField(fields, 'address').toLowerCase()

/** The acts, by their names in the address. */
export const integrationActs: Readonly<Record<string, Act>> = {
  'integration-create': { needs: 'admin', run: create },
  'integration-enable': { needs: 'admin', run: (input) => setEnabled(input, true) },
  'integration-disable': { needs: 'admin', run: (input) => setEnabled(input, false) },
  'integration-url': { needs: 'admin', run: setUrl },
  'integration-rotate': { needs: 'admin', run: rotate },
  'integration-prepare': { needs: 'admin', run: prepare },
  'integration-activate': { needs: 'admin', run: activate },
  'integration-abort': { needs: 'admin', run: abort },
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
    <SecretsPage
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
    </SecretsPage>
  )
  return { show: { title, section, body } }
}

async function setEnabled(input: ActInput, enabled: boolean): Promise<ActAnswer> {
  const { address } = await input.commands.integrations.setEnabled(addressOf(input), enabled)
  return { to: integrationPath(address), note: enabled ? 'integration-enabled' : 'integration-disabled' }
}

async function setUrl(input: ActInput): Promise<ActAnswer> {
  const { address } = await input.commands.integrations.setNotificationUrl(
    addressOf(input),
    input.fields['url'] ?? null,
  )
  return { to: integrationPath(address), note: 'url-set' }
}

async function rotate(input: ActInput): Promise<ActAnswer> {
  const address = addressOf(input)
  const graceMs = graceField(input.fields)
  const { apiSecret } = await input.commands.integrations.rotateApiSecret(address, { graceMs })
  const title = 'The API secret is replaced'
  const body = (
    <SecretsPage title={title} to={integrationPath(address)} secrets={[['API secret', apiSecret]]}>
      <p>
        {graceMs === 0
          ? 'The former secret expires within a quarter of a second.'
          : `The former secret stays valid for ${graceMs / 3_600_000} hours.`}
      </p>
    </SecretsPage>
  )
  return { show: { title, section, body } }
}

/** Issues the next signing secret. Core would answer a prepared one again, and no page shows a secret twice. */
async function prepare(input: ActInput): Promise<ActAnswer> {
  const address = addressOf(input)
  const { integrations } = input.commands
  const found = (await integrations.list()).find((each) => each.address === address)
  const { signingSecret, isNew } =
    found?.signingSecretPrepared === true
      ? { signingSecret: null, isNew: false }
      : await integrations.prepareSigningSecret(address)
  if (signingSecret === null || !isNew)
    throw new FilterError('A next signing secret is prepared already, and was shown once. Abort it to prepare another.')
  const title = 'The next signing secret is prepared'
  const body = (
    <SecretsPage title={title} to={integrationPath(address)} secrets={[['Signing secret', signingSecret]]}>
      <p>
        Add it to the receiver and keep the present one there. Deliveries are signed with the present secret until you
        activate this one.
      </p>
    </SecretsPage>
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
