/** Managing integrations and their secrets. Source: INTERFACE 5, 6; DESIGN section 3 (secrets). @module */
import { IntegrationError } from '../errors.js'
import { parseAddress } from '../payments/parameters.js'
import type { IntegrationRecord, IntegrationStore } from '../ports/store-integrations.js'
import type { Clock, Random } from '../ports/world.js'
import { hashApiSecret } from '../secrets/hash-api-secret.js'
import { issueApiSecret, issueSigningSecret } from '../secrets/issue.js'
import type { MasterKey } from '../secrets/master-key.js'
import { sealSecret } from '../secrets/seal.js'
import type { IntegrationCommands, IntegrationView } from '../service-types.js'
import { parseNotificationUrl } from './notification-url.js'

/** What the commands need. */
export interface IntegrationDeps {
  readonly integrations: Pick<IntegrationStore, 'find' | 'list' | 'insert' | 'update'>
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  /** Dev only: accept `http:` notification URLs to this machine. */
  readonly allowLoopbackHttp: boolean
}

/** Builds the commands. Plain secrets are returned once and never stored. */
export function createIntegrationCommands(deps: IntegrationDeps): IntegrationCommands {
  const { integrations, keys, clock, random, allowLoopbackHttp } = deps

  async function change(input: string, fields: Parameters<IntegrationStore['update']>[1]): Promise<IntegrationView> {
    const address = parseAddress(input)
    const record = await integrations.update(address, fields)
    if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    return integrationView(record)
  }

  return {
    async create({ address: input, name = '', notificationUrl = null }) {
      const address = parseAddress(input)
      const apiSecret = issueApiSecret(random)
      const signingSecret = issueSigningSecret(random)
      const record: IntegrationRecord = {
        address,
        name,
        notificationUrl: notificationUrl === null ? null : parseNotificationUrl(notificationUrl, allowLoopbackHttp),
        enabled: true,
        apiSecret: hashApiSecret(keys.current, apiSecret),
        previousApiSecret: null,
        signingSecret: sealSecret(keys, random, address, signingSecret),
        createdAt: clock.now(),
      }
      if (!(await integrations.insert(record))) throw new IntegrationError('ERR_INTEGRATION_EXISTS', address)
      return { integration: integrationView(record), apiSecret, signingSecret }
    },
    async list() {
      return (await integrations.list()).map(integrationView)
    },
    setEnabled: (address, enabled) => change(address, { enabled }),
    setNotificationUrl: (address, url) =>
      change(address, { notificationUrl: url === null ? null : parseNotificationUrl(url, allowLoopbackHttp) }),
    async rotateApiSecret(input, { graceMs = 0 } = {}) {
      if (!Number.isSafeInteger(graceMs) || graceMs < 0)
        throw new RangeError(`graceMs is ${graceMs}; pass a whole number of milliseconds, 0 or more.`)
      const address = parseAddress(input)
      const found = await integrations.find(address)
      if (found === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
      const apiSecret = issueApiSecret(random)
      const previousApiSecret =
        graceMs === 0 || found.apiSecret === null ? null : { ...found.apiSecret, until: clock.now() + graceMs }
      const rotated = { apiSecret: hashApiSecret(keys.current, apiSecret), previousApiSecret }
      // Two rotations at once would each keep the same previous secret and forget the other's new one.
      const written = await integrations.update(address, rotated, { apiSecretHash: found.apiSecret?.hash ?? null })
      if (written === null) throw new IntegrationError('ERR_INTEGRATION_CHANGED', address)
      return { apiSecret }
    },
    async rotateSigningSecret(input) {
      const address = parseAddress(input)
      const signingSecret = issueSigningSecret(random)
      await change(address, { signingSecret: sealSecret(keys, random, address, signingSecret) })
      return { signingSecret }
    },
  }
}

function integrationView(record: IntegrationRecord): IntegrationView {
  const { address, name, notificationUrl, enabled, createdAt } = record
  return { address, name, notificationUrl, enabled, createdAt }
}
