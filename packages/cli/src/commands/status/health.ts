/** Requests and checks the health report of a server. @module */
import { startTimeLimit } from '@payment-integration/contract/answers'
import { ExcessiveJsonError, readForeignJson } from '@payment-integration/contract/parse'
import type { HealthReport } from '@payment-integration/server'
import { ServerError } from '../../errors.js'

/** The server waits for its database for at most two seconds; the rest is for the network. */
const timeoutMs = 5_000
/** Far above the report of a thousand endpoints. */
const maxBytes = 1_048_576

/**
 * Requests `/health` of the server at `url`.
 * @throws ServerError `ERR_SERVER` when no server answers, or another kind of server.
 */
export async function askHealth(url: string, signal: AbortSignal): Promise<HealthReport> {
  let answered: unknown
  const limit = startTimeLimit(timeoutMs, signal)
  try {
    const answer = await fetch(`${url}/health`, { redirect: 'error', signal: limit.signal })
    answered = await readForeignJson(answer, maxBytes).catch((error: unknown) => {
      if (error instanceof ExcessiveJsonError || error instanceof SyntaxError) return null
      throw error
    })
  } catch (cause) {
    throw new ServerError(
      `No server answers at ${url}${reasonOf(cause)}; is it running? Pass another URL with --url.`,
      {
        cause,
      },
    )
  } finally {
    limit.end()
  }
  const report = readHealth(answered)
  if (report === null)
    throw new ServerError(
      `The server at ${url} is no payment integration server of this version; pass another URL with --url.`,
    )
  return report
}

/** The system's error code, or the timeout, if any. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if (error.name === 'TimeoutError') return ` within ${timeoutMs / 1_000} s`
  const { code } = (error.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : ''
}

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const number: Check = (value) => typeof value === 'number'
const flag: Check = (value) => typeof value === 'boolean'
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const oneOf =
  (...choices: readonly unknown[]): Check =>
  (value) =>
    choices.includes(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const object =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(checks).every(([name, check]) => check((value as Fields)[name]))

const isEndpoint = object({
  name: text,
  score: number,
  inUse: flag,
  head: orNull(number),
  latencyMs: orNull(number),
  failures: number,
  contradictions: number,
  failedProofs: number,
  calls: number,
  receivedBytes: number,
  blocks: number,
  maxRange: number,
  lastError: orNull(text),
})
const isChain = object({
  chainId: number,
  leading: flag,
  head: orNull(number),
  // Older servers do not report it.
  headAt: (value) => value === undefined || orNull(number)(value),
  indexed: orNull(number),
  lag: orNull(number),
  proof: oneOf('root', 'bloom', 'none', null),
  reorganisations: number,
  endpoints: listOf(isEndpoint),
  error: orNull(text),
  lastError: orNull(object({ message: text, at: number })),
})
const isReport = object({
  status: oneOf('ok', 'degraded', 'down'),
  database: oneOf('ok', 'unavailable'),
  chains: listOf(isChain),
  recording: oneOf('own', undefined),
})

/** The report, with its unknown fields; null when the value is none. */
export function readHealth(value: unknown): HealthReport | null {
  return isReport(value) ? (value as HealthReport) : null
}
