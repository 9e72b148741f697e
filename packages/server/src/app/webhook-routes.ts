/** Receives signed updates and verdicts. Source: docs/decisions/processor-updates.md, identity.md. @module */
import { paths, signatureHeader, type UpdateResult, type UpdateResults } from '@payment-integration/contract'
import { type Service, UpdateConflictError, type UpdateReceiver } from '@payment-integration/core'
import type { ProviderVerdict } from '@payment-integration/core/identity'
import { readRequestBody } from '@payment-integration/core/internal'
import type { Clock, Logger } from '@payment-integration/core/ports'
import type { Hono } from 'hono'
import { createRate } from '../limits/request-limits.js'
import { addEndpoint, answerPrivateJson, answerUnauthorized } from './answers.js'
import { type AppEnv, HttpRequestError, maxBodyBytes, requireJsonContentType } from './requests.js'

/** Largest body, in bytes: it holds 100 usual updates. */
const maxUpdateBytes = 128 * 1024

/**
 * Adds `POST /api/v1/processor/updates`. It checks content type and size, then the signature over the raw bytes, then
 * the content. 200 applied or unchanged, 202 waiting, 422 rejected; 400, 401, 409, 413, 415 as on the decision page.
 * Several updates are answered 200 with their results.
 */
export function addProcessorRoute(
  app: Hono<AppEnv>,
  deps: { readonly service: Pick<Service, 'applyUpdate' | 'applyUpdates'>; readonly receiveUpdate: UpdateReceiver },
): void {
  const { service, receiveUpdate } = deps
  addEndpoint(app, 'post', paths.processorUpdates, async (c) => {
    requireJsonContentType(c.req.raw.headers)
    const body = await readRequestBody(c.req.raw, maxUpdateBytes)
    const received = await receiveUpdate({ body, signature: c.req.header(signatureHeader) ?? null })
    switch (received.kind) {
      case 'unauthenticated':
        return answerUnauthorized(signatureHeader)
      case 'invalid':
        throw new HttpRequestError('ERR_UPDATE_INVALID', received.message)
      case 'update':
        return answerResult(await service.applyUpdate(received.update))
      case 'updates':
        return answerResults(received.updates, await service.applyUpdates(received.updates))
    }
  })
}

function answerResult(result: UpdateResult): Response {
  if (result.outcome === 'rejected')
    return answerPrivateJson({ error: result.reason ?? 'The update was rejected', ...result }, 422)
  return answerPrivateJson(result, result.outcome === 'waiting' ? 202 : 200)
}

function answerResults(
  updates: readonly { readonly id: string }[],
  outcomes: readonly PromiseSettledResult<UpdateResult>[],
): Response {
  const results = outcomes.map((outcome, index): UpdateResults['results'][number] => {
    if (outcome.status === 'fulfilled') return outcome.value
    if (!(outcome.reason instanceof UpdateConflictError)) throw outcome.reason
    return { id: updates[index]?.id ?? '', error: outcome.reason.message }
  })
  return answerPrivateJson({ results }, 200)
}

/** Path that the identity provider posts to. */
export const verdictPath = '/api/v1/identity-provider/webhook'

/** The most log lines per minute and error code about rejected webhooks: anybody can send such webhooks. */
const maxLinesPerMinute = 10

/**
 * Authenticates the raw bytes and parses them, as a reader of `@payment-integration/identity-sumsub/service` does.
 * The code of its rejections begins with `ERR_PROVIDER_WEBHOOK_`.
 */
export type VerdictReader = (webhook: {
  readonly body: Uint8Array
  readonly digest: string | null
  readonly algorithm: string | null
}) => Promise<(ProviderVerdict & { readonly kind: 'applicant' }) | { readonly kind: 'other' }>

interface VerdictRouteDeps {
  readonly identity: NonNullable<Service['identity']>
  readonly readWebhook: VerdictReader
  readonly logger: Pick<Logger, 'warn'>
  /** Receives the code of every webhook that was rejected. */
  readonly onRejected?: ((code: string) => void) | undefined
  /** Monotonic, in milliseconds. */
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Adds the route. It checks the digest of the raw bytes before it reads the content. An accepted webhook gets 200,
 * whether it changes something or not. A rejected webhook gets 400, and a verdict 503 while the database is
 * unavailable, so that the provider sends it again. Rejections are counted by code, and logged without content up to
 * ten times a minute for each code: an operator notices a secret that was changed on one side only.
 */
export function addVerdictRoute(app: Hono<AppEnv>, deps: VerdictRouteDeps): void {
  const { identity, readWebhook, logger, onRejected, clock } = deps
  const logRate = createRate({ count: maxLinesPerMinute, periodMs: 60_000, clock })
  addEndpoint(app, 'post', verdictPath, async (c) => {
    const body = await readRequestBody(c.req.raw, maxBodyBytes)
    const digest = c.req.header('X-Payload-Digest') ?? null
    const algorithm = c.req.header('X-Payload-Digest-Alg') ?? null
    try {
      const event = await readWebhook({ body, digest, algorithm })
      if (event.kind === 'other') return answerPrivateJson({ outcome: 'ignored' })
      return answerPrivateJson({ outcome: await identity.applyVerdict(event) })
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      if (!code.startsWith('ERR_PROVIDER_WEBHOOK_')) throw error
      onRejected?.(code)
      if (logRate.take(code) === 0)
        logger.warn(
          { eventType: 'identity.webhook_rejected', code, status: 400 },
          'A webhook of the provider is rejected.',
        )
      return answerPrivateJson({ error: message }, 400)
    }
  })
}
