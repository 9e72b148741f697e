/** Sends a test delivery to an integration's endpoint. Source: docs/decisions/portal.md. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import type { Audited } from '../audit/audited.js'
import { shownUrl } from '../audit/shown-url.js'
import type { EndpointCommands } from '../delivery-types.js'
import { IntegrationError } from '../errors.js'
import { withoutSecrets } from '../notifications/attempt.js'
import { failureReason } from '../notifications/schedule.js'
import { deliveryHeaders } from '../notifications/sign-delivery.js'
import { parseAddress } from '../payments/parameters.js'
import type { Sender } from '../ports/sender.js'
import type { IntegrationStore } from '../ports/store-integrations.js'
import type { Clock } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { openSecret } from '../secrets/seal.js'
import { sampleBody } from './sample.js'

/** The dependencies of the commands. */
export interface EndpointDeps {
  readonly integrations: Pick<IntegrationStore, 'find'>
  readonly audited: Audited
  readonly keys: MasterKey
  readonly clock: Pick<Clock, 'now'>
  readonly sender: Sender
  /** When an integration may send its next test, in unix milliseconds: infinite while one is in flight. */
  readonly nextTestAt: Map<string, number>
}

/** The time between the starts of two tests of an integration, in milliseconds: each one is an audit record. */
export const testPauseMs = 5_000

/** Builds the commands. */
export function createEndpointCommands(deps: EndpointDeps): EndpointCommands {
  const { integrations, audited, keys, clock, sender, nextTestAt } = deps

  async function send(address: string) {
    const record = await integrations.find(address)
    if (record === null) throw new IntegrationError('ERR_INTEGRATION_NOT_FOUND', address)
    const url = record.notificationUrl
    if (url === null) throw new IntegrationError('ERR_NO_NOTIFICATION_URL', address)
    const secret = openSecret(keys, address, record.signingSecret)
    // Recorded before it is sent: a receiver never gets a request that no record explains.
    await audited(async (_tx, note) =>
      note({ action: 'integration.test_sent', subject: address, details: { url: shownUrl(keys.current, url) } }),
    )
    const body = sampleBody(address, clock.now())
    const headers = await deliveryHeaders({ secret, integrationAddress: address, body, now: clock.now() })
    const startedAt = clock.now()
    const result = await sender.post({ url, headers, body, timeoutMs: deliveryTimeoutMs })
    const isAnswer = result.kind === 'answer'
    return {
      url,
      headers,
      body: new TextDecoder().decode(body),
      startedAt,
      latencyMs: result.latencyMs,
      status: result.status ?? null,
      reason: failureReason(result),
      excerpt: isAnswer ? withoutSecrets(result.excerpt) : null,
    }
  }

  return {
    async sendTest(input) {
      const address = parseAddress(input)
      const now = clock.now()
      const waitMs = (nextTestAt.get(address) ?? 0) - now
      // After the clock was set back the pause is over.
      if (waitMs === Number.POSITIVE_INFINITY || (waitMs > 0 && waitMs <= testPauseMs))
        throw new IntegrationError('ERR_TEST_IN_FLIGHT', address)
      nextTestAt.set(address, Number.POSITIVE_INFINITY)
      try {
        const sent = await send(address)
        nextTestAt.set(address, now + testPauseMs)
        return sent
      } catch (error) {
        nextTestAt.delete(address)
        throw error
      }
    },
  }
}
