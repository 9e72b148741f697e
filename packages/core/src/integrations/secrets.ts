/** Rotates API secrets and signing secrets. Source: docs/decisions/secrets.md. @module */
import { IntegrationError } from '../errors.js'
import type { AuditAction, AuditEntry } from '../history/audit-store.js'
import type { Audited } from '../history/audited.js'
import { assertWhole } from '../internal/values.js'
import { parseAddress } from '../payments/read-api.js'
import type { Clock, Random } from '../ports/world.js'
import type { SealedSecret } from '../secrets/key-store.js'
import { hashApiSecret, issueApiSecret, issueSigningSecret, type MasterKey } from '../secrets/keys.js'
import { openSecret, sealSecret } from '../secrets/seal.js'
import type { IntegrationCommands, IntegrationRecord, IntegrationStore } from './integration.js'

/** Builds the commands. */
export function createApiSecretCommands({
  audited,
  keys,
  clock,
  random,
}: SigningSecretDeps): Pick<IntegrationCommands, 'rotateApiSecret' | 'endPreviousApiSecret'> {
  return {
    async rotateApiSecret(input, { graceMs = 0, keepsPrevious = false } = {}) {
      assertWhole('graceMs', graceMs, 0)
      const address = parseAddress(input)
      const apiSecret = issueApiSecret(random)
      const until = clock.now() + graceMs
      await audited(async (tx, note) => {
        const found = await tx.integrations.find(address)
        if (found === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
        const { previousApiSecret: former } = found
        if (keepsPrevious && former !== null && clock.now() < former.until)
          throw new IntegrationError('ERR_PREVIOUS_API_SECRET', address)
        const previousApiSecret = graceMs === 0 || found.apiSecret === null ? null : { ...found.apiSecret, until }
        const rotated = { apiSecret: hashApiSecret(keys.current, address, apiSecret), previousApiSecret }
        // Two rotations at once would store the same previous secret, and one new secret would be lost.
        const onlyIf = { apiSecretHash: found.apiSecret?.hash ?? null }
        const written = await tx.integrations.update(address, rotated, onlyIf)
        if (written === null) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
        note({ action: 'integration.api_secret_rotated', subject: address, details: { graceMs } })
      })
      return { apiSecret }
    },
    async endPreviousApiSecret(input) {
      const address = parseAddress(input)
      await audited(async (tx, note) => {
        const found = await tx.integrations.find(address)
        if (found === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
        const { previousApiSecret: previous } = found
        if (previous === null || previous.until <= clock.now())
          throw new IntegrationError('ERR_NO_PREVIOUS_SECRET', address)
        await tx.integrations.update(address, { previousApiSecret: null })
        note({ action: 'integration.previous_api_secret_ended', subject: address })
      })
    },
  }
}

/** The dependencies of the commands. */
interface SigningSecretDeps {
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
