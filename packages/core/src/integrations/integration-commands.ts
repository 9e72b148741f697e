/** Manages integrations. Source: docs/interface.md 6. @module */
import { IntegrationError } from '../errors.js'
import { redactUrl } from '../history/audit-log.js'
import type { ChainReads } from '../indexer/chain-store.js'
import { parseAddress, parseName } from '../internal/parameters.js'
import { findUnrecordedRanges, lockRecording, type Recording } from '../payments/recording.js'
import { hashApiSecret, issueSecret } from '../secrets/keys.js'
import { sealSecret } from '../secrets/seal.js'
import type { IntegrationCommands, IntegrationRecord, IntegrationStore, IntegrationView } from './integration.js'
import { type NotificationUrlRule, parseNotificationUrl } from './notification-url.js'
import { createChange, createSecretCommands, type SecretDeps } from './secrets.js'

interface IntegrationDeps extends SecretDeps, NotificationUrlRule {
  readonly integrations: Pick<IntegrationStore, 'find' | 'list'>
  readonly chains: Pick<ChainReads, 'coverage'>
  readonly recording: Recording
  /** Chains that this process follows. */
  readonly followed: readonly number[]
}

/** Plain secrets are returned once and never stored. */
export function createIntegrationCommands(deps: IntegrationDeps): IntegrationCommands {
  const { integrations, chains, recording, followed, audited, keys, clock, random } = deps
  const change = createChange(deps)
  const toView = (record: IntegrationRecord) => toIntegrationView(record, clock.now())

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
        details: {
          from: redactUrl(keys.current, before.notificationUrl),
          to: redactUrl(keys.current, notificationUrl),
        },
        result: toView({ ...before, notificationUrl }),
      }))
    },
    ...createSecretCommands(deps),
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
