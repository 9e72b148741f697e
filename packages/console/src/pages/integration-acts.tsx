/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The forms that change one integration. @module */
import type { IntegrationView } from '@payment-integration/core'
import { ActForm, type ActFormProps } from '../view/act-form.js'
import { ConfirmField, GraceField, TextField } from '../view/fields.js'

/** The forms that fit its state. */
export function IntegrationActs({ one }: { one: IntegrationView }) {
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
