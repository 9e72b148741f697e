/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Pages that show a new secret: once, as the answer to the form that made it. @module */
import { Copyable } from '../../view/parts.js'
import { portalHref } from '../links.js'

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
