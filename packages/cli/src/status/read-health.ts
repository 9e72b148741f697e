/** Reads what a server says of its health, which may be any text. @module */
import type { HealthReport } from '@payment-integration/server'

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
  maxRange: number,
  lastError: orNull(text),
})
const isChain = object({
  chainId: number,
  leading: flag,
  head: orNull(number),
  // Servers of before do not say it.
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
})

/** The report in a body, or null when it is none. Fields that are not known stay in it. */
export function readHealth(body: string): HealthReport | null {
  try {
    const value: unknown = JSON.parse(body)
    return isReport(value) ? (value as HealthReport) : null
  } catch {
    return null
  }
}
