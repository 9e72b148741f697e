/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Rotates the API secret and the signing secret; shows a new secret once. @module */
import type { Child } from 'hono/jsx'
import { confirmedField, graceField } from '../pages/page.js'
import { Copyable, newSecretsPage, When } from '../view/parts.js'
import { type PortalActs, PortalForm, type PortalLoad, portalHref } from './page.js'

const section = '/secrets'

export const secretsPage: PortalLoad = async ({ tenant }) => {
  const { previousApiSecretUntil, signingSecretPrepared, previousSigningSecretUntil } = await tenant.integration()
  const body = (
    <>
      <h1>Secrets</h1>
      <p class="dim">
        Nobody can read the stored secrets, not even here. A new one is shown once, when you make it. The service
        records each step.
      </p>
      <ApiSecret until={previousApiSecretUntil} />
      <SigningSecret isPrepared={signingSecretPrepared} until={previousSigningSecretUntil} />
    </>
  )
  return { title: 'Secrets', section, body }
}

function ApiSecret({ until }: { until: number | null }) {
  return (
    <section>
      <h2>API secret</h2>
      <p>Your server sends it as its password to the API, and you sign in with it here.</p>
      {until === null ? (
        <PortalForm act="rotate-api-secret" label="Make a new API secret" hasGrace />
      ) : (
        <>
          <p class="note">
            Two API secrets are valid. The previous one ends at <When at={until} withDate />. Sessions that it opened
            end with it.
          </p>
          <PortalForm act="end-api-secret" label="End the old API secret" confirm="Every server has the new one" />
        </>
      )}
    </section>
  )
}

function SigningSecret({ isPrepared, until }: { isPrepared: boolean; until: number | null }) {
  return (
    <section>
      <h2>Signing secret</h2>
      <p>Deliveries are signed with it. Your receiver needs a new one before it is used: hence two steps.</p>
      {isPrepared ? (
        <>
          <p class="note">A new one is prepared. Activate it when your receiver accepts both.</p>
          <div class="acts">
            <PortalForm act="activate-signing-secret" label="Activate the new signing secret" hasGrace />
            <PortalForm act="abort-signing-secret" label="Abort: delete the prepared one" tone="danger" />
          </div>
        </>
      ) : (
        <PortalForm act="prepare-signing-secret" label="Prepare a new signing secret" />
      )}
      {until === null ? null : (
        <>
          <p class="note">
            Until <When at={until} withDate />, a delivery that your receiver answers with 400, 401 or 403 is sent once
            more at once, signed with the previous secret.
            {isPrepared ? ' Activating the prepared one ends it.' : ''}
          </p>
          <PortalForm
            act="end-signing-secret"
            label="End the old signing secret"
            confirm="All receivers have the new one"
          />
        </>
      )}
    </section>
  )
}

export const secretActs: PortalActs = {
  async 'rotate-api-secret'(tenant, fields) {
    const { apiSecret } = await tenant.rotateApiSecret(graceField(fields))
    return newSecret('New API secret', 'The new API secret', apiSecret, [
      <ol class="bullets">
        <li>Put it into the configuration of your server, beside the address {tenant.address}.</li>
        <li>
          When every server has it, end the previous one at {secretsLink}, or let its time run out. Each session that
          was opened with it ends then, and this one too: sign in with the new one.
        </li>
      </ol>,
    ])
  },
  async 'end-api-secret'(tenant, fields) {
    confirmedField(fields)
    await tenant.endPreviousApiSecret()
    return { to: section, note: 'api-ended' }
  },
  async 'prepare-signing-secret'(tenant) {
    const { signingSecret } = await tenant.prepareSigningSecret()
    const verifier =
      'createVerifier({ secrets: [process.env.WEBHOOK_SIGNING_SECRET, process.env.NEXT_WEBHOOK_SIGNING_SECRET] })'
    return newSecret('New signing secret', 'The prepared signing secret', signingSecret, [
      <ol class="bullets">
        <li>Nothing is signed with it yet. Let your receiver accept both secrets:</li>
      </ol>,
      <Copyable label="A verifier with two secrets" text={verifier} />,
      <p>Then activate it at {secretsLink}. If you lost it, abort it there and prepare another one.</p>,
    ])
  },
  async 'activate-signing-secret'(tenant, fields) {
    await tenant.activateSigningSecret(graceField(fields))
    return { to: section, note: 'signing-active' }
  },
  async 'abort-signing-secret'(tenant) {
    await tenant.abortSigningSecret()
    return { to: section, note: 'signing-aborted' }
  },
  async 'end-signing-secret'(tenant, fields) {
    confirmedField(fields)
    await tenant.endPreviousSigningSecret()
    return { to: section, note: 'signing-ended' }
  },
}

const secretsLink = <a href={portalHref(section)}>Secrets</a>

const newSecret = (title: string, label: string, secret: string, instructions: Child) => ({
  show: newSecretsPage({ title, section, secrets: { [label]: secret }, toHref: portalHref }, instructions),
})
