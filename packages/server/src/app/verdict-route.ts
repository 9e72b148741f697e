/**
 * Receives webhooks of the identity provider. Source: docs/interface.md 6 (last sentence);
 * docs/decisions/identity-provider.md.
 * @module
 */
import { readRequestBody, type Service } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import { WebhookRefusedError } from '@payment-integration/identity-sumsub'
import type { WebhookReader } from '@payment-integration/identity-sumsub/service'
import type { Hono } from 'hono'
import { createRate } from '../limits/rate.js'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { maxBodyBytes } from './request-parts.js'

/** Path that the provider posts to. */
export const verdictPath = '/api/v1/identity-provider/webhook'

/** Most log lines a minute about rejected webhooks of one cause: anybody can send them. */
const mostLines = 10

/** The parts that the route needs. */
export interface VerdictRouteDeps {
  readonly identity: NonNullable<Service['identity']>
  readonly readWebhook: WebhookReader
  readonly logger: Pick<Logger, 'warn'>
  /** Receives the code of every webhook that was rejected. */
  readonly onRefused?: ((code: WebhookRefusedError['code']) => void) | undefined
  /** A clock that never goes back, in milliseconds. */
  readonly now: () => number
}

/**
 * Adds the route. It checks the digest over the raw bytes before it reads the content. Every webhook of the provider
 * gets 200, whether it changes something or not. Any other gets 400, so that the provider sends it again, and 503 while
 * the database is away. A rejected webhook is counted by its code and logged up to ten times a minute, without its
 * content. There an operator sees a secret that was changed on one side only, before the provider gives up.
 */
export function addVerdictRoute(app: Hono<AppEnv>, deps: VerdictRouteDeps): void {
  const { identity, readWebhook, logger, onRefused, now } = deps
  const lines = createRate({ count: mostLines, periodMs: 60_000, now })
  app.post(verdictPath, async (c) => {
    const body = await readRequestBody(c.req.raw, maxBodyBytes)
    const digest = c.req.header('X-Payload-Digest') ?? null
    const algorithm = c.req.header('X-Payload-Digest-Alg') ?? null
    try {
      const event = await readWebhook({ body, digest, algorithm })
      if (event.kind === 'other') return jsonAnswer({ outcome: 'ignored' })
      return jsonAnswer({ outcome: await identity.applyVerdict(event) })
    } catch (error) {
      if (!(error instanceof WebhookRefusedError)) throw error
      const { code } = error
      onRefused?.(code)
      if (lines.take(code) === 0)
        logger.warn(
          { eventType: 'identity.webhook_refused', code, status: 400 },
          'A webhook of the provider is rejected.',
        )
      return jsonAnswer({ error: error.message }, 400)
    }
  })
  allowMethods(app, verdictPath, ['POST'])
}
