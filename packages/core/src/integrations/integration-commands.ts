/** Manages integrations and their API secrets. Source: docs/interface.md 6. @module */
import { IntegrationError } from '../errors.js'
import { redactUrl } from '../history/audit-log.js'
import type { AuditAction, AuditEntry } from '../history/audit-store.js'
import type { ChainReads } from '../indexer/chain-store.js'
import { assertWhole } from '../internal/values.js'
import { parseAddress, parseName } from '../payments/read-api.js'
import { findUnrecordedRanges, lockRecording, type Recording } from '../payments/recording.js'
import type { StoreTransaction } from '../ports/store.js'
import { hashApiSecret, issueSecret } from '../secrets/keys.js'
import { resealSecrets, sealSecret } from '../secrets/seal.js'
import type { IntegrationCommands, IntegrationRecord, IntegrationStore, IntegrationView } from './integration.js'
import { parseNotificationUrl } from './notification-url.js'
import { createSigningSecretCommands, type SecretDeps } from './signing-secrets.js'

function createApiSecretCommands(
  deps: SecretDeps,
): Pick<IntegrationCommands, 'rotateApiSecret' | 'endPreviousApiSecret'> {
  const { audited, keys, clock, random } = deps
  return {
    async rotateApiSecret(input, { graceMs = 0, keepsPrevious = false } = {}) {
      assertWhole('graceMs', graceMs, 0)
      const address = parseAddress(input)
      const apiSecret = issueSecret('api', random)
      const until = clock.now() + graceMs
      await audited(async (tx, note) => {
        const record = await tx.integrations.find(address)
        if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
        const { previousApiSecret: former } = record
        if (keepsPrevious && former !== null && clock.now() < former.until)
          throw new IntegrationError('ERR_PREVIOUS_API_SECRET', address)
        const previousApiSecret = graceMs === 0 || record.apiSecret === null ? null : { ...record.apiSecret, until }
        const rotated = { apiSecret: hashApiSecret(keys.current, address, apiSecret), previousApiSecret }
        // Two concurrent rotations would store the same previous secret, and one new secret would be lost.
        const onlyIf = { apiSecretHash: record.apiSecret?.hash ?? null }
        const written = await tx.integrations.update(address, rotated, onlyIf)
        if (written === null) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
        note({ action: 'integration.api_secret_rotated', subject: address, details: { graceMs } })
      })
      return { apiSecret }
    },
    async endPreviousApiSecret(input) {
      const address = parseAddress(input)
      await audited(async (tx, note) => {
        const record = await tx.integrations.find(address)
        if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
        const { previousApiSecret: previous } = record
        if (previous === null || previous.until <= clock.now())
          throw new IntegrationError('ERR_NO_PREVIOUS_SECRET', address)
        await tx.integrations.update(address, { previousApiSecret: null })
        note({ action: 'integration.previous_api_secret_ended', subject: address })
      })
    },
  }
}

interface IntegrationDeps extends SecretDeps {
  readonly integrations: Pick<IntegrationStore, 'find' | 'list'>
  readonly chains: Pick<ChainReads, 'coverage'>
  readonly recording: Recording
  /** Chains that this process follows. */
  readonly followed: readonly number[]
  /** Dev only: accept `http:` notification URLs to this machine. */
  readonly allowLoopbackHttp: boolean
  /** Whether the operator denies an address. @default none is denied */
  readonly isDeniedAddress?: ((address: string) => boolean) | undefined
}

type Change = Parameters<IntegrationStore['update']>[1]

/** Plain secrets are returned once and never stored. */
export function createIntegrationCommands(deps: IntegrationDeps): IntegrationCommands {
  const { integrations, chains, recording, followed, audited, keys, clock, random } = deps
  const { allowLoopbackHttp, isDeniedAddress } = deps
  const parseOptionalUrl = (url: string | null) =>
    url === null ? null : parseNotificationUrl(url, allowLoopbackHttp, isDeniedAddress)

  const toView = (record: IntegrationRecord) => toIntegrationView(record, clock.now())

  function change(
    input: string,
    action: AuditAction,
    fields: Change,
    details: (before: IntegrationRecord) => AuditEntry['details'] = () => ({}),
    also?: (tx: StoreTransaction, address: string) => Promise<unknown>,
  ): Promise<IntegrationView> {
    const subject = parseAddress(input)
    return audited(async (tx, note) => {
      const before = await tx.integrations.find(subject)
      const record = before === null ? null : await tx.integrations.update(subject, fields)
      if (before === null || record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', subject)
      await also?.(tx, subject)
      note({ action, subject, details: details(before) })
      return toView(record)
    })
  }

  /** Sessions end when an integration is disabled, and do not come back when it is enabled. */
  const endSessions = (tx: StoreTransaction, address: string) => tx.integrationSessions.deleteByIntegration(address)

  return {
    async create({ address: input, name = '', notificationUrl = null }) {
      const address = parseAddress(input)
      const apiSecret = issueSecret('api', random)
      const signingSecret = issueSecret('whsec', random)
      const record: IntegrationRecord = {
        address,
        name: parseName(name),
        notificationUrl: parseOptionalUrl(notificationUrl),
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
        const url = redactUrl(keys.current, record.notificationUrl)
        note({ action: 'integration.created', subject: address, details: { name, url } })
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
    async setEnabled(address, enabled) {
      const sessions = enabled ? undefined : endSessions
      return change(address, enabled ? 'integration.enabled' : 'integration.disabled', { enabled }, undefined, sessions)
    },
    async setNotificationUrl(address, url) {
      const notificationUrl = parseOptionalUrl(url)
      return change(address, 'integration.url_set', { notificationUrl }, (before) => ({
        from: redactUrl(keys.current, before.notificationUrl),
        to: redactUrl(keys.current, notificationUrl),
      }))
    },
    ...createApiSecretCommands(deps),
    ...createSigningSecretCommands(deps),
    resealSecrets: () => resealSecrets(deps),
  }
}

function toIntegrationView(record: IntegrationRecord, now: number): IntegrationView {
  const { address, name, notificationUrl, enabled, createdAt } = record
  const findGraceEnd = (previous: { readonly until: number } | null) =>
    previous !== null && now < previous.until ? previous.until : null
  const rotation = {
    signingSecretPrepared: record.preparedSigningSecret !== null,
    previousSigningSecretUntil: findGraceEnd(record.previousSigningSecret),
    previousApiSecretUntil: findGraceEnd(record.previousApiSecret),
  }
  return { address, name, notificationUrl, enabled, createdAt, ...rotation }
}
