/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Acts on integrations. New secrets are in the answer of the form, and on no other page. @module */
import { integrationPath } from '../pages/integrations.js'
import { NewSecretsPage } from '../pages/secrets.js'
import type { Act, ActAnswer, ActInput, Note } from './act.js'
import { confirmedField, graceField, requiredField } from './fields.js'

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
