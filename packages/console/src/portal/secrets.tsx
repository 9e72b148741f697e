/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Rotates the API secret and the signing secret. A new one is shown once, in the answer of its form. @module */
import type { IntegrationView } from '@payment-integration/core'
import { ConfirmField, GraceField } from '../view/forms.js'
import { Copyable, When } from '../view/parts.js'
import { PortalForm, portalHref } from './page.js'

/** The page. It never has a secret. */
export function OwnSecretsPage({ integration }: { integration: IntegrationView }) {
  return (
    <>
      <h1>Secrets</h1>
      <p class="dim">
        Both are stored so that nobody can read them here. A new one is shown once, when you make it. Each step is
        recorded in the audit log.
      </p>
      <ApiSecret until={integration.previousApiSecretUntil} />
      <SigningSecret isPrepared={integration.signingSecretPrepared} until={integration.previousSigningSecretUntil} />
    </>
  )
}

function ApiSecret({ until }: { until: number | null }) {
  return (
    <section>
      <h2>API secret</h2>
      <p>It is the password of your server at the API, and of you here.</p>
      {until === null ? (
        <PortalForm act="rotate-api-secret" label="Make a new API secret">
          <GraceField />
        </PortalForm>
      ) : (
        <>
          <p class="note">
            Two API secrets are valid. The previous one ends at <When at={until} withDate /> UTC. Sessions that it
            opened end with it.
          </p>
          <PortalForm act="end-api-secret" label="End the previous API secret now" tone="danger">
            <ConfirmField label="Every server of mine has the new one" />
          </PortalForm>
        </>
      )}
    </section>
  )
}

function SigningSecret({ isPrepared, until }: { isPrepared: boolean; until: number | null }) {
  return (
    <section>
      <h2>Signing secret</h2>
      <p>
        Deliveries are signed with it. Your receiver must know a new one before it signs, so a rotation has two steps.
      </p>
      {isPrepared ? (
        <>
          <p class="note">A new one is prepared. Activate it when your receiver accepts both.</p>
          <div class="acts">
            <PortalForm act="activate-signing-secret" label="Activate the new signing secret">
              <GraceField />
            </PortalForm>
            <PortalForm act="abort-signing-secret" label="Abort: delete the prepared one" tone="danger" />
          </div>
        </>
      ) : (
        <PortalForm act="prepare-signing-secret" label="Prepare a new signing secret" />
      )}
      {until === null ? null : (
        <>
          <p class="note">
            Until <When at={until} withDate /> UTC, a delivery that your receiver answers with 400, 401 or 403 is sent
            once more at once, signed with the previous secret.
            {isPrepared ? ' Activating the prepared one ends it.' : ''}
          </p>
          <PortalForm act="end-signing-secret" label="End the previous signing secret now" tone="danger">
            <ConfirmField label="Every receiver of mine has the new one" />
          </PortalForm>
        </>
      )}
    </section>
  )
}

/** A new API secret. */
export function NewApiSecret(props: { address: string; apiSecret: string }) {
  return (
    <>
      <h1>New API secret</h1>
      <p class="note">Copy it now: it is not shown again. A reload of this page does not bring it back.</p>
      <Copyable label="The new API secret" text={props.apiSecret} />
      <ol class="bullets">
        <li>Put it into the configuration of your server, beside the address {props.address}.</li>
        <li>
          When every server has it, end the previous one at <a href={portalHref('/secrets')}>Secrets</a>, or let its
          time run out. Each session that was opened with it ends then, and this one too: sign in with the new one.
        </li>
      </ol>
    </>
  )
}

/** A prepared signing secret. */
export function NewSigningSecret({ signingSecret }: { signingSecret: string }) {
  return (
    <>
      <h1>New signing secret</h1>
      <p class="note">Copy it now: it is not shown again. A reload of this page does not bring it back.</p>
      <Copyable label="The prepared signing secret" text={signingSecret} />
      <ol class="bullets">
        <li>Nothing is signed with it yet. Let your receiver accept both secrets:</li>
      </ol>
      <Copyable
        label="A verifier with two secrets"
        text={
          'createVerifier({ secrets: [process.env.WEBHOOK_SIGNING_SECRET, process.env.NEXT_WEBHOOK_SIGNING_SECRET] })'
        }
      />
      <p>
        Then activate it at <a href={portalHref('/secrets')}>Secrets</a>. If you lost it, abort it there and prepare
        another one.
      </p>
    </>
  )
}
