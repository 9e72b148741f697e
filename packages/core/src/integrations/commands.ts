/** Manages integrations and their secrets. Source: docs/interface.md 5, 6; docs/decisions/secrets.md. @module */

import { IntegrationError } from '../errors.js'
import type { AuditAction, AuditEntry } from '../history/audit-store.js'
import { type Audited, shownUrl } from '../history/audited.js'
import type { ChainReads } from '../indexer/chain-store.js'
import { parseAddress, parseName } from '../payments/read-api.js'
import { lockRecording, type Recording, unrecordedRanges } from '../payments/recording.js'
import type { StoreTransaction } from '../ports/store.js'
import type { Clock, Random } from '../ports/world.js'
import { hashApiSecret, issueApiSecret, issueSigningSecret, type MasterKey } from '../secrets/keys.js'
import { resealSecrets, sealSecret } from '../secrets/seal.js'
import type { IntegrationCommands, IntegrationRecord, IntegrationStore, IntegrationView } from './integration.js'
import { parseNotificationUrl } from './notification-url.js'
import { createApiSecretCommands, createSigningSecretCommands } from './secrets.js'

/** The dependencies of the commands. */
export interface IntegrationDeps {
  readonly integrations: Pick<IntegrationStore, 'find' | 'list'>
  readonly chains: Pick<ChainReads, 'coverage'>
  readonly recording: Recording
  /** Chains that this process follows. */
  readonly followed: readonly number[]
  /** Runs every change, with its audit record. */
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  /** Dev only: accept `http:` notification URLs to this machine. */
  readonly allowLoopbackHttp: boolean
  /** Whether the operator denies an address. @default none is denied */
  readonly isDeniedAddress?: ((address: string) => boolean) | undefined
}

type Change = Parameters<IntegrationStore['update']>[1]

/** Builds the commands. Plain secrets are returned once and never stored. */
export function createIntegrationCommands(deps: IntegrationDeps): IntegrationCommands {
  const {
    integrations,
    chains,
    recording,
    followed,
    audited,
    keys,
    clock,
    random,
    allowLoopbackHttp,
    isDeniedAddress,
  } = deps
  const readUrl = (url: string | null) =>
    url === null ? null : parseNotificationUrl(url, allowLoopbackHttp, isDeniedAddress)

  const viewOf = (record: IntegrationRecord) => integrationView(record, clock.now())

  /** Changes an existing integration. @param details - Of the former record. */
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
      return viewOf(record)
    })
  }

  /** Sessions of a disabled integration do not open again when it is enabled. */
  const endSessions = (tx: StoreTransaction, address: string) => tx.integrationSessions.deleteOf(address)

  return {
    async create({ address: input, name = '', notificationUrl = null }) {
      const address = parseAddress(input)
      const apiSecret = issueApiSecret(random)
      const signingSecret = issueSigningSecret(random)
      const record: IntegrationRecord = {
        address,
        name: parseName(name),
        notificationUrl: readUrl(notificationUrl),
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
        const url = shownUrl(keys.current, record.notificationUrl)
        note({ action: 'integration.created', subject: address, details: { name, url } })
        return checkpoints
      })
      const unrecorded = await unrecordedRanges(chains, recordedTo)
      return { integration: viewOf(record), apiSecret, signingSecret, unrecorded }
    },
    async get(input) {
      const address = parseAddress(input)
      const record = await integrations.find(address)
      if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
      return viewOf(record)
    },
    async list() {
      return (await integrations.list()).map(viewOf)
    },
    async setEnabled(address, enabled) {
      const sessions = enabled ? undefined : endSessions
      return change(address, enabled ? 'integration.enabled' : 'integration.disabled', { enabled }, undefined, sessions)
    },
    async setNotificationUrl(address, url) {
      const notificationUrl = readUrl(url)
      return change(address, 'integration.url_set', { notificationUrl }, (before) => ({
        from: shownUrl(keys.current, before.notificationUrl),
        to: shownUrl(keys.current, notificationUrl),
      }))
    },
    ...createApiSecretCommands({ audited, keys, clock, random }),
    ...createSigningSecretCommands({ audited, keys, clock, random }),
    resealSecrets: () => resealSecrets({ audited, keys, clock, random }),
  }
}

function integrationView(record: IntegrationRecord, now: number): IntegrationView {
  const { address, name, notificationUrl, enabled, createdAt } = record
  const endOf = (previous: { readonly until: number } | null) =>
    previous !== null && now < previous.until ? previous.until : null
  const rotation = {
    signingSecretPrepared: record.preparedSigningSecret !== null,
    previousSigningSecretUntil: endOf(record.previousSigningSecret),
    previousApiSecretUntil: endOf(record.previousApiSecret),
  }
  return { address, name, notificationUrl, enabled, createdAt, ...rotation }
}
