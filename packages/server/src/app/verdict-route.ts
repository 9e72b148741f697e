/**
 * Receives webhooks of the identity provider. Source: docs/interface.md 6 (last sentence);
 * docs/decisions/identity-provider.md.
 * @module
 */
import type { Service } from '@payment-integration/core'
import type { Verdict } from '@payment-integration/core/identity'
import { readRequestBody } from '@payment-integration/core/internal'
import type { Logger } from '@payment-integration/core/ports'
import type { Hono } from 'hono'
import { createRate } from '../limits/request-limits.js'
import type { AppEnv } from './requests.js'
import { allowMethods, jsonAnswer, maxBodyBytes } from './requests.js'

/** Path that the provider posts to. */
export const verdictPath = '/api/v1/identity-provider/webhook'

/** Most log lines a minute about rejected webhooks of one cause: anybody can send them. */
const mostLines = 10

/**
 * Authenticates the raw bytes and parses them: `createWebhookReader` of `@payment-integration/identity-sumsub/service`.
 * It rejects a webhook with an error whose code begins with `ERR_PROVIDER_WEBHOOK_`.
 */
export type VerdictReader = (webhook: {
  readonly body: Uint8Array
  readonly digest: string | null
  readonly algorithm: string | null
}) => Promise<(Verdict & { readonly kind: 'applicant' }) | { readonly kind: 'other' }>

/** The parts that the route needs. */
export interface VerdictRouteDeps {
  readonly identity: NonNullable<Service['identity']>
  readonly readWebhook: VerdictReader
  readonly logger: Pick<Logger, 'warn'>
  /** Receives the code of every webhook that was rejected. */
  readonly onRefused?: ((code: string) => void) | undefined
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
      const { code = '', message } = error as NodeJS.ErrnoException
      if (!code.startsWith('ERR_PROVIDER_WEBHOOK_')) throw error
      onRefused?.(code)
      if (lines.take(code) === 0)
        logger.warn(
          { eventType: 'identity.webhook_refused', code, status: 400 },
          'A webhook of the provider is rejected.',
        )
      return jsonAnswer({ error: message }, 400)
    }
  })
  allowMethods(app, verdictPath, ['POST'])
}
