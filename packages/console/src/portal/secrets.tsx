/** Rotates the secrets of an integration, in the portal and on the operators' page; shows a new secret once. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { Child } from 'hono/jsx'
import { checkConfirmed, graceField, type PageContent, type SharedNote } from '../pages/page.js'
import { Copyable, newSecretsPage, When } from '../view/parts.js'
import type { Fields } from '../web/run-form.js'
import type { IntegrationScope } from './integration-scope.js'
import { PortalForm, type PortalLoad, portalHref } from './page.js'

const section = '/secrets'

export const secretsPage: PortalLoad = async ({ tenant }) => {
  const body = (
    <>
      <h1>Secrets</h1>
      <p class="dim">
        Nobody can read the stored secrets, not even here. A new one is shown once, when you make it. The service
        records each step.
      </p>
      <SecretForms of={await tenant.integration()} Form={PortalForm} />
    </>
  )
  return { title: 'Secrets', section, body }
}

/** The forms of the acts below. @param props.Form - Builds the form of an act by its name. */
export function SecretForms({ of, Form }: { of: IntegrationView; Form: typeof PortalForm }) {
  const { previousApiSecretUntil, signingSecretPrepared: isPrepared, previousSigningSecretUntil } = of
  return (
    <>
      <h2>API secret</h2>
      <p>The integration's server sends it to the API as its password. It also opens the portal.</p>
      {previousApiSecretUntil === null ? (
        <Form act="rotate" label="Make a new API secret" hasGrace />
      ) : (
        <>
          <p class="note">
            Two API secrets are valid. The previous one ends at <When at={previousApiSecretUntil} withDate />. Sessions
            that it opened end with it.
          </p>
          <Form act="end-api" label="End the old API secret" confirm="Every server has the new one" />
        </>
      )}
      <h2>Signing secret</h2>
      <p>Deliveries are signed with it. A receiver needs a new one before its use: prepare it, then activate it.</p>
      {isPrepared ? (
        <>
          <p class="note">A new one is prepared. Activate it when the receiver accepts both.</p>
          <div class="acts">
            <Form act="activate" label="Activate the new signing secret" hasGrace />
            <Form act="abort" label="Abort: delete the prepared one" tone="danger" />
          </div>
        </>
      ) : (
        <Form act="prepare" label="Prepare a new signing secret" />
      )}
      {previousSigningSecretUntil === null ? null : (
        <>
          <p class="note">
            Until <When at={previousSigningSecretUntil} withDate />, a delivery that the receiver answers with 400, 401
            or 403 is sent once more at once, signed with the previous secret.
            {isPrepared ? ' Activating the prepared one ends it.' : ''}
          </p>
          <Form act="end-signing" label="End the old signing secret" confirm="All receivers have the new one" />
        </>
      )}
    </>
  )
}

type SecretAct = (
  tenant: IntegrationScope,
  fields: Fields,
) => Promise<{ readonly to: string; readonly note: SharedNote } | { readonly show: PageContent }>

/** The page that has the forms. */
interface FormsPage {
  readonly section: string
  /** Its path below the base. */
  readonly to: string
  readonly toHref: typeof portalHref
}

/** Creates the acts of the forms above. @param findPage - Finds the page of the forms by the integration's address. */
export function createSecretActs(findPage: (address: string) => FormsPage): Readonly<Record<string, SecretAct>> {
  const done = ({ address }: IntegrationScope, note: SharedNote) => ({ to: findPage(address).to, note })
  const show = ({ address }: IntegrationScope, title: string, secret: string, instructions: Child) => ({
    show: newSecretsPage({ ...findPage(address), title, secrets: { Secret: secret } }, instructions),
  })
  return {
    async rotate(tenant, fields) {
      const { apiSecret } = await tenant.rotateApiSecret(graceField(fields))
      const instructions = (
        <ol class="bullets">
          <li>Put it into the configuration of the server, beside the address {tenant.address}.</li>
          <li>
            When every server has it, end the previous one or let it expire. Portal sessions that the previous one
            opened end with it: sign in with the new one.
          </li>
        </ol>
      )
      return show(tenant, 'New API secret', apiSecret, instructions)
    },
    async 'end-api'(tenant, fields) {
      checkConfirmed(fields)
      await tenant.endPreviousApiSecret()
      return done(tenant, 'api-ended')
    },
    async prepare(tenant) {
      const { signingSecret } = await tenant.prepareSigningSecret()
      const verifier =
        'createVerifier({ secrets: [process.env.WEBHOOK_SIGNING_SECRET, process.env.NEXT_WEBHOOK_SIGNING_SECRET] })'
      const instructions = (
        <>
          <p>Nothing is signed with it yet. Let the receiver accept both secrets:</p>
          <Copyable label="A verifier with two secrets" text={verifier} />
          <p>Then activate it. If it is lost, abort it and prepare another one.</p>
        </>
      )
      return show(tenant, 'New signing secret, prepared', signingSecret, instructions)
    },
    async activate(tenant, fields) {
      await tenant.activateSigningSecret(graceField(fields))
      return done(tenant, 'signing-activated')
    },
    async abort(tenant) {
      await tenant.abortSigningSecret()
      return done(tenant, 'signing-aborted')
    },
    async 'end-signing'(tenant, fields) {
      checkConfirmed(fields)
      await tenant.endPreviousSigningSecret()
      return done(tenant, 'signing-ended')
    },
  }
}

export const secretActs = createSecretActs(() => ({ section, to: section, toHref: portalHref }))
