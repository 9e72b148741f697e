/** Rotates signing secrets: prepare, activate, end the previous one. Source: docs/interface.md 6. @module */
import { IntegrationError } from '../errors.js'
import type { Audited } from '../history/audit-log.js'
import type { AuditAction, AuditEntry } from '../history/audit-store.js'
import { assertWhole } from '../internal/values.js'
import { parseAddress } from '../payments/read-api.js'
import type { Clock, RandomSource } from '../ports/runtime.js'
import { issueSecret, type MasterKey, type SealedSecret } from '../secrets/keys.js'
import { openSecret, sealSecret } from '../secrets/seal.js'
import type { IntegrationCommands, IntegrationRecord, IntegrationStore } from './integration.js'

export interface SecretDeps {
  /** Runs each change in turn, with its audit record. */
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<RandomSource, 'bytes'>
}

/** Default grace time of the previous secret, in milliseconds: a day. */
const defaultGraceMs = 86_400_000

interface SecretChange<T> {
  readonly fields: Parameters<IntegrationStore['update']>[1]
  readonly action: AuditAction
  readonly details?: AuditEntry['details']
  readonly result: T
}

export function createSigningSecretCommands(
  deps: SecretDeps,
): Pick<
  IntegrationCommands,
  'prepareSigningSecret' | 'activateSigningSecret' | 'abortSigningSecret' | 'endPreviousSigningSecret'
> {
  const { audited, keys, clock, random } = deps
  /** Changes a record. Any change deletes a previous secret past its grace time. */
  function change<T>(input: string, decide: (record: IntegrationRecord) => SecretChange<T>): Promise<T> {
    const address = parseAddress(input)
    return audited(async (tx, note) => {
      const record = await tx.integrations.find(address)
      if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
      const { fields, action, details = {}, result } = decide(record)
      const previous = record.previousSigningSecret
      const isExpired = previous !== null && previous.until <= clock.now()
      await tx.integrations.update(address, { ...(isExpired ? { previousSigningSecret: null } : {}), ...fields })
      note({ action, subject: address, details })
      return result
    })
  }

  const openPrepared = (address: string, prepared: SealedSecret) =>
    openSecret(keys, address, prepared, 'prepared signing secret')

  return {
    prepareSigningSecret: (input, { isShownAgain = true } = {}) =>
      change(input, ({ address, preparedSigningSecret: prepared }) => {
        if (prepared !== null && !isShownAgain) throw new IntegrationError('ERR_SIGNING_SECRET_PREPARED', address)
        if (prepared !== null) {
          const result = { signingSecret: openPrepared(address, prepared), isNew: false }
          return { fields: {}, action: 'integration.signing_secret_shown', result }
        }
        const signingSecret = issueSecret('whsec', random)
        const preparedSigningSecret = sealSecret(keys, random, address, signingSecret)
        const result = { signingSecret, isNew: true }
        return { fields: { preparedSigningSecret }, action: 'integration.signing_secret_prepared', result }
      }),
    async activateSigningSecret(input, { graceMs = defaultGraceMs } = {}) {
      assertWhole('graceMs', graceMs, 0)
      return change(input, ({ address, preparedSigningSecret: prepared, signingSecret: active }) => {
        if (prepared === null) throw new IntegrationError('ERR_SIGNING_SECRET_NOT_PREPARED', address)
        // A secret that cannot be opened could sign nothing.
        openPrepared(address, prepared)
        const previousUntil = graceMs === 0 ? null : clock.now() + graceMs
        const previousSigningSecret = previousUntil === null ? null : { ...active, until: previousUntil }
        return {
          fields: { signingSecret: prepared, preparedSigningSecret: null, previousSigningSecret },
          action: 'integration.signing_secret_activated',
          details: { graceMs },
          result: { previousUntil },
        }
      })
    },
    abortSigningSecret: (input) =>
      change(input, ({ address, preparedSigningSecret: prepared }) => {
        if (prepared === null) throw new IntegrationError('ERR_SIGNING_SECRET_NOT_PREPARED', address)
        const action = 'integration.signing_secret_aborted'
        return { fields: { preparedSigningSecret: null }, action, result: undefined }
      }),
    endPreviousSigningSecret: (input) =>
      change(input, ({ address, previousSigningSecret: previous }) => {
        if (previous === null || previous.until <= clock.now())
          throw new IntegrationError('ERR_NO_PREVIOUS_SECRET', address)
        const action = 'integration.previous_signing_secret_ended'
        return { fields: { previousSigningSecret: null }, action, result: undefined }
      }),
  }
}
