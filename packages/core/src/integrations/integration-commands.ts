/** Manages integrations and their secrets. Source: docs/interface.md 5, 6. @module */
import { IntegrationError } from '../errors.js'
import { type AuditNote, type CommandDeps, redactUrl } from '../history/audit-log.js'
import type { ChainReads } from '../indexer/chain-store.js'
import { parseAddress, parseName } from '../internal/parameters.js'
import { assertWhole } from '../internal/values.js'
import { findUnrecordedRanges, lockRecording, type Recording } from '../payments/recording.js'
import type { StoreTransaction } from '../ports/store.js'
import { hashApiSecret, issueSecret, type SealedSecret, type SecretHash } from '../secrets/keys.js'
import { openDataKey, openSecret, sealDataKey, sealSecret } from '../secrets/seal.js'
import type {
  GraceEnd,
  IntegrationChange,
  IntegrationCommands,
  IntegrationRecord,
  IntegrationStore,
  IntegrationView,
  ResealResult,
} from './integration.js'
import { type NotificationUrlRule, parseNotificationUrl } from './notification-url.js'

export interface RecordingDeps {
  readonly chains: Pick<ChainReads, 'coverage'>
  readonly recording: Recording
  /** Chains that this process follows. */
  readonly followed: readonly number[]
}

interface IntegrationDeps extends CommandDeps, NotificationUrlRule, RecordingDeps {
  readonly integrations: Pick<IntegrationStore, 'find' | 'list'>
}

/** Plain secrets are returned once and never stored. */
export function createIntegrationCommands(deps: IntegrationDeps): IntegrationCommands {
  const { integrations, chains, recording, followed, audited, keys, clock, random } = deps
  const redact = (url: string | null) => redactUrl(keys.current, url)
  const toView = (record: IntegrationRecord) => toIntegrationView(record, clock.now())

  /** Changes an integration, and deletes a previous signing secret past its grace time. */
  async function change<T>(
    input: string,
    decide: (before: IntegrationRecord, tx: StoreTransaction) => Change<T> | Promise<Change<T>>,
  ): Promise<T> {
    const address = parseAddress(input)
    // The lock of the audit log serializes changes, so `before` is current until the commit.
    return audited(async (tx, note) => {
      const before = await tx.integrations.find(address)
      if (before === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
      const { fields, result, ...noted } = await decide(before, tx)
      const expired = hasEnded(before.previousSigningSecret, clock.now()) ? { previousSigningSecret: null } : {}
      await tx.integrations.update(address, { ...expired, ...fields })
      note({ ...noted, subject: address })
      return result
    })
  }
  type PreviousSecret = 'previousApiSecret' | 'previousSigningSecret'
  const endPrevious = (input: string, name: PreviousSecret, action: AuditNote['action']): Promise<void> =>
    change(input, ({ address, [name]: previous }) => {
      if (previous !== null && !hasEnded(previous, clock.now()))
        return { fields: { [name]: null }, action, result: undefined }
      throw new IntegrationError('ERR_NO_PREVIOUS_SECRET', address)
    })
  const openPrepared = (address: string, prepared: SealedSecret) =>
    openSecret(keys, address, prepared, 'prepared signing secret')

  return {
    async create({ address: input, name = '', notificationUrl = null }) {
      const address = parseAddress(input)
      const apiSecret = issueSecret('api', random)
      const signingSecret = issueSecret('whsec', random)
      const record: IntegrationRecord = {
        address,
        name: parseName(name),
        notificationUrl: parseNotificationUrl(notificationUrl, deps),
        enabled: true,
        apiSecret: hashApiSecret(keys.current, address, apiSecret),
        previousApiSecret: null,
        signingSecret: sealSecret(keys, random, address, signingSecret),
        preparedSigningSecret: null,
        previousSigningSecret: null,
        createdAt: clock.now(),
      }
      const recordedTo = await audited(async (tx, note) => {
        const checkpoints = recording === 'own' ? await lockRecording(tx, followed) : new Map<number, number>()
        if (!(await tx.integrations.insert(record))) throw new IntegrationError('ERR_INTEGRATION_EXISTS', address)
        const details = { name, url: redact(record.notificationUrl) }
        note({ action: 'integration.created', subject: address, details })
        return checkpoints
      })
      const unrecorded = await findUnrecordedRanges(chains, recordedTo)
      return { integration: toView(record), apiSecret, signingSecret, unrecorded }
    },
    async get(input) {
      const address = parseAddress(input)
      const record = await integrations.find(address)
      if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
      return toView(record)
    },
    async list() {
      return (await integrations.list()).map(toView)
    },
    setEnabled: (input, enabled) =>
      change(input, async (before, tx) => {
        // Sessions do not come back when the integration is enabled.
        if (!enabled) await tx.integrationSessions.deleteByOwner(before.address)
        const action = enabled ? 'integration.enabled' : 'integration.disabled'
        return { fields: { enabled }, action, result: toView({ ...before, enabled }) }
      }),
    async setNotificationUrl(input, url) {
      const notificationUrl = parseNotificationUrl(url, deps)
      return change(input, (before) => ({
        fields: { notificationUrl },
        action: 'integration.url_set',
        details: { from: redact(before.notificationUrl), to: redact(notificationUrl) },
        result: toView({ ...before, notificationUrl }),
      }))
    },
    async rotateApiSecret(input, { graceMs = 0, keepsPrevious = false } = {}) {
      assertWhole('graceMs', graceMs, 0)
      const apiSecret = issueSecret('api', random)
      const until = clock.now() + graceMs
      return change(input, ({ address, apiSecret: active, previousApiSecret: former }) => {
        if (keepsPrevious && former !== null && clock.now() < former.until)
          throw new IntegrationError('ERR_PREVIOUS_API_SECRET', address)
        const previousApiSecret = graceMs === 0 || active === null ? null : { ...active, until }
        return {
          fields: { apiSecret: hashApiSecret(keys.current, address, apiSecret), previousApiSecret },
          action: 'integration.api_secret_rotated',
          details: { graceMs },
          result: { apiSecret },
        }
      })
    },
    endPreviousApiSecret: (input) => endPrevious(input, 'previousApiSecret', 'integration.previous_api_secret_ended'),
    prepareSigningSecret: (input, { isShownAgain = true } = {}) =>
      change(input, ({ address, preparedSigningSecret: prepared }) => {
        if (prepared !== null && !isShownAgain) throw new IntegrationError('ERR_SIGNING_SECRET_PREPARED', address)
        const isNew = prepared === null
        const signingSecret = prepared === null ? issueSecret('whsec', random) : openPrepared(address, prepared)
        return {
          fields: { ...(isNew && { preparedSigningSecret: sealSecret(keys, random, address, signingSecret) }) },
          action: isNew ? 'integration.signing_secret_prepared' : 'integration.signing_secret_shown',
          result: { signingSecret, isNew },
        }
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
      endPrevious(input, 'previousSigningSecret', 'integration.previous_signing_secret_ended'),
    resealSecrets: () => resealSecrets(deps),
  }
}

function toIntegrationView(record: IntegrationRecord, now: number): IntegrationView {
  const { address, name, notificationUrl, enabled, createdAt } = record
  const findGraceEnd = (previous: GraceEnd | null) =>
    previous === null || hasEnded(previous, now) ? null : previous.until
  return {
    address,
    name,
    notificationUrl,
    enabled,
    createdAt,
    signingSecretPrepared: record.preparedSigningSecret !== null,
    previousSigningSecretUntil: findGraceEnd(record.previousSigningSecret),
    previousApiSecretUntil: findGraceEnd(record.previousApiSecret),
  }
}

interface Change<T> extends Omit<AuditNote, 'subject'> {
  readonly fields: IntegrationChange
  readonly result: T
}

const hasEnded = (previous: GraceEnd | null, now: number): boolean => previous !== null && previous.until <= now

/** Default grace time of the previous signing secret, in milliseconds: a day. */
const defaultGraceMs = 86_400_000

/** Reseals all secrets, or none, with the newest master key. Deletes previous signing secrets past their grace time. */
function resealSecrets({ audited, keys, clock, random }: CommandDeps): Promise<ResealResult> {
  const isOlder = (stored: Pick<SecretHash, 'keyVersion'> | null) =>
    stored !== null && stored.keyVersion !== keys.current.version

  return audited(async (tx, note) => {
    const integrations = await tx.integrations.list()
    const olderDataKeys = (await tx.dataKeys.list()).filter(({ key }) => isOlder(key))
    for (const { purpose, key } of olderDataKeys)
      await tx.dataKeys.replace(purpose, key, sealDataKey(keys, random, purpose, openDataKey(keys, purpose, key)))
    const dataKeys = olderDataKeys.length
    const now = clock.now()
    let resealed = 0
    /** The secret under the newest key; undefined: it needs no change. */
    function reseal<Secret extends SealedSecret>(address: string, stored: Secret | null): Secret | undefined {
      if (stored === null || !isOlder(stored)) return undefined
      resealed += 1
      return { ...stored, ...sealSecret(keys, random, address, openSecret(keys, address, stored)) }
    }
    for (const { address, ...record } of integrations) {
      const signingSecret = reseal(address, record.signingSecret)
      const preparedSigningSecret = reseal(address, record.preparedSigningSecret)
      const previous = record.previousSigningSecret
      const previousSigningSecret = hasEnded(previous, now) ? null : reseal(address, previous)
      const change = {
        ...(signingSecret && { signingSecret }),
        ...(preparedSigningSecret && { preparedSigningSecret }),
        ...(previousSigningSecret !== undefined && { previousSigningSecret }),
      }
      if (Object.keys(change).length > 0) await tx.integrations.update(address, change)
    }
    const olderApiSecrets = integrations.flatMap(({ address, apiSecret, previousApiSecret: previous }) =>
      isOlder(apiSecret) || (isOlder(previous) && !hasEnded(previous, now)) ? [address] : [],
    )
    const olderLegacyKeys = (await tx.legacyKeys.list()).flatMap(({ id, secret, revokedAt }) =>
      revokedAt === null && isOlder(secret) ? [id] : [],
    )
    const details = { resealed, dataKeys, keyVersion: keys.current.version }
    note({ action: 'secrets.resealed', subject: 'all', details })
    return { resealed, dataKeys, olderApiSecrets, olderLegacyKeys }
  })
}
