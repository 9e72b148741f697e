/** Rotates a signing secret: prepare, then activate or abort. Source: docs/decisions/secrets.md. @module */
import type { Audited } from '../audit/audited.js'
import { IntegrationError } from '../errors.js'
import type { IntegrationCommands } from '../integration-types.js'
import { assertWhole } from '../internal/assert-whole.js'
import { parseAddress } from '../payments/parameters.js'
import type { AuditAction, AuditEntry } from '../ports/store-audit.js'
import type { IntegrationRecord, IntegrationStore, SealedSecret } from '../ports/store-integrations.js'
import type { Clock, Random } from '../ports/world.js'
import { issueSigningSecret } from '../secrets/issue.js'
import type { MasterKey } from '../secrets/master-key.js'
import { openSecret, sealSecret } from '../secrets/seal.js'

/** The dependencies of the commands. */
export interface SigningSecretDeps {
  /** Runs changes one after the other, each with its audit record. */
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

/** Default grace time of the previous secret, in milliseconds: a day. */
const defaultGraceMs = 86_400_000

/** The change of a command. */
interface Step<T> {
  readonly change: Parameters<IntegrationStore['update']>[1]
  readonly action: AuditAction
  readonly details?: AuditEntry['details']
  readonly result: T
}

/** Builds the commands. */
export function createSigningSecretCommands({
  audited,
  keys,
  clock,
  random,
}: SigningSecretDeps): Pick<
  IntegrationCommands,
  'prepareSigningSecret' | 'activateSigningSecret' | 'abortSigningSecret' | 'endPreviousSigningSecret'
> {
  /** Changes a record. Any change deletes a previous secret past its grace time. */
  function change<T>(input: string, decide: (record: IntegrationRecord) => Step<T>): Promise<T> {
    const address = parseAddress(input)
    return audited(async (tx, note) => {
      const record = await tx.integrations.find(address)
      if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
      const { change: fields, action, details = {}, result } = decide(record)
      const previous = record.previousSigningSecret
      const isOver = previous !== null && previous.until <= clock.now()
      await tx.integrations.update(address, { ...(isOver ? { previousSigningSecret: null } : {}), ...fields })
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
          return { change: {}, action: 'integration.signing_secret_shown', result }
        }
        const signingSecret = issueSigningSecret(random)
        const preparedSigningSecret = sealSecret(keys, random, address, signingSecret)
        const result = { signingSecret, isNew: true }
        return { change: { preparedSigningSecret }, action: 'integration.signing_secret_prepared', result }
      }),
    async activateSigningSecret(input, { graceMs = defaultGraceMs } = {}) {
      assertWhole('graceMs', graceMs, 0)
      return change(input, ({ address, preparedSigningSecret: prepared, signingSecret: active }) => {
        if (prepared === null) throw new IntegrationError('ERR_SIGNING_SECRET_NOT_PREPARED', address)
        // A secret that cannot be opened could sign nothing.
        openPrepared(address, prepared)
        const previousUntil = graceMs === 0 ? null : clock.now() + graceMs
        return {
          change: {
            signingSecret: prepared,
            preparedSigningSecret: null,
            previousSigningSecret: previousUntil === null ? null : { ...active, until: previousUntil },
          },
          action: 'integration.signing_secret_activated',
          details: { graceMs },
          result: { previousUntil },
        }
      })
    },
    abortSigningSecret: (input) =>
      change(input, ({ address, preparedSigningSecret: prepared }) => {
        if (prepared === null) throw new IntegrationError('ERR_SIGNING_SECRET_NOT_PREPARED', address)
        return {
          change: { preparedSigningSecret: null },
          action: 'integration.signing_secret_aborted',
          result: undefined,
        }
      }),
    endPreviousSigningSecret: (input) =>
      change(input, ({ address, previousSigningSecret: previous }) => {
        if (previous === null || previous.until <= clock.now())
          throw new IntegrationError('ERR_NO_PREVIOUS_SECRET', address)
        return {
          change: { previousSigningSecret: null },
          action: 'integration.previous_signing_secret_ended',
          result: undefined,
        }
      }),
  }
}
