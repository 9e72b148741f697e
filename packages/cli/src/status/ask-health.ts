/** Asks a running server how it is. @module */
import type { HealthReport } from '@payment-integration/server'
import { ServerError } from '../errors.js'
import { readHealth } from './read-health.js'

/** The server asks its database for two seconds at most; the rest is the way there and back. */
const timeoutMs = 5_000
/** Far more than the report of a thousand endpoints. */
const maxBytes = 1_048_576

/**
 * Gets `/health` of the server at `url`.
 * @throws ServerError `ERR_SERVER` when nothing answers, or something that is no such server.
 */
export async function askHealth(url: string, signal: AbortSignal): Promise<HealthReport> {
  let text: string | null
  try {
    const signals = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const answer = await fetch(`${url}/health`, { redirect: 'error', signal: signals })
    text = await bounded(answer)
  } catch (cause) {
    throw new ServerError(
      `No server answers at ${url}${reasonOf(cause)}; is it running? Name another one with --url.`,
      {
        cause,
      },
    )
  }
  const report = text === null ? null : readHealth(text)
  if (report === null)
    throw new ServerError(
      `What answers at ${url} is no payment integration server of this version; name one with --url.`,
    )
  return report
}

/** The system's own word for what went wrong, where it has one. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error.name === 'TimeoutError') return ` within ${timeoutMs / 1_000} s`
  const { code } = (error.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : ''
}

/** The body, or null when it is larger than any report. */
async function bounded(answer: Response): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
