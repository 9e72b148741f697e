/** Verdicts of the identity provider. Source: INTERFACE 6 (last sentence); docs/decisions/identity.md. @module */
import type { Logger, Service } from '@payment-integration/core'
import { WebhookRefusedError } from '@payment-integration/identity-sumsub'
import type { WebhookReader } from '@payment-integration/identity-sumsub/service'
import type { Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'
import { jsonAnswer } from './json-answer.js'
import { readBody } from './read-body.js'

/** Where the provider posts. */
export const verdictPath = '/api/v1/identity-provider/webhook'

/** Largest webhook, in bytes: the provider's are a fraction of it. */
const mostBytes = 64 * 1024

/** What the route works with. */
export interface VerdictRouteDeps {
  readonly identity: NonNullable<Service['identity']>
  readonly readWebhook: WebhookReader
  readonly logger: Pick<Logger, 'warn'>
  /** Told the code of every webhook that was refused. */
  readonly onRefused?: ((code: WebhookRefusedError['code']) => void) | undefined
}

/**
 * Adds the route: the digest over the raw bytes, then the content. 200 for everything that is the provider's own, whether it is news or not; 400 for what is
 * not, so that the provider sends it again; 503 while the database is away. What is refused is logged and counted by its code, without a byte of it:
 * a secret that was changed on one side only shows there, before the provider gives up.
 */
export function addVerdictRoute(app: Hono<AppEnv>, deps: VerdictRouteDeps): void {
  const { identity, readWebhook, logger, onRefused } = deps
  app.post(verdictPath, async (c) => {
    const body = await readBody(c.req.raw, mostBytes)
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
      logger.warn({ eventType: 'identity.webhook_refused', code, status: 400 }, 'A webhook of the provider is refused.')
      return jsonAnswer({ error: error.message }, 400)
    }
  })
  allowMethods(app, verdictPath, ['POST'])
}
