/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The forms that resolve a redemption and close a verification. @module */
import type { RedemptionRecord, SubjectView } from '@payment-integration/core/ports'
import { closableOf } from '../identity-words.js'
import { ActForm } from '../view/act-form.js'
import { ConfirmField, TextField } from '../view/fields.js'

/** An operator looks at the provider first, then says what is there. */
export function ResolveForms({ redemption: { externalUserId } }: { redemption: RedemptionRecord }) {
  return (
    <div class="acts">
      <ActForm
        act="identity-resolve"
        label="It created this applicant"
        needs="operator"
        fields={{ externalUserId, finding: 'applicant' }}
      >
        <TextField name="applicant" label="Applicant id at the provider" />
      </ActForm>
      <ActForm
        act="identity-resolve"
        label="It created none"
        needs="operator"
        fields={{ externalUserId, finding: 'none' }}
        tone="danger"
      >
        <ConfirmField label="The provider has no applicant of this name" />
      </ActForm>
    </div>
  )
}

/** Checking asks the provider and changes nothing. */
export function CloseForms({ subject }: { subject: SubjectView }) {
  const what = closableOf(subject)
  if (what === null) return null
  const fields = { subject: subject.id, what }
  return (
    <div class="acts">
      <ActForm act="identity-close" label="Check" needs="operator" fields={{ ...fields, dryRun: 'yes' }} />
      <ActForm
        act="identity-close"
        label={what === 'hold' ? 'End the hold' : 'It was deleted'}
        needs="operator"
        fields={fields}
        tone="danger"
      >
        <ConfirmField label="I looked at the provider" />
      </ActForm>
    </div>
  )
}
