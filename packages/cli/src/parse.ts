/** Parses the values of arguments and options. @module */
import { InvalidArgumentError } from 'commander'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Longest delay that a timer of Node can hold: about 24.8 days. */
const longestMs = 2 ** 31 - 1

/**
 * Reads a duration such as `500ms`, `3s`, `10m`, `24h` or `7d`, in whole units.
 * @returns Milliseconds.
 * @throws InvalidArgumentError When the text is anything else, or longer than 24 days.
 */
export function parseDuration(text: string): number {
  const ms = durationMs(text)
  if (ms === null) throw new InvalidArgumentError('Expected a number and a unit: 500ms, 3s, 10m, 24h or 7d.')
  if (ms > longestMs) throw new InvalidArgumentError('Expected at most 24 days.')
  return ms
}

/** A duration of any length in milliseconds, or null when the text is none. */
export function durationMs(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  return digits === '' ? null : Number(digits) * unitMs[unit as keyof typeof unitMs]
}

const expectedMoment =
  'Expected a time such as 2026-03-01, 2026-03-01T09:30:00Z or 2026-03-01T09:30+01:00, or how long ago: 90m, 2h, 7d.'
const isoTime = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * A parser of moments: an ISO 8601 date (its first moment in UTC), a date and time with its zone, or how long ago it was.
 * A time without a zone is refused, because it would mean another moment on each machine.
 * @param now - Unix time in milliseconds.
 * @returns A function to unix time in milliseconds; it throws InvalidArgumentError for anything else, and for days that do not exist.
 */
export function moment(now: () => number): (text: string) => number {
  return (text) => {
    const ago = durationMs(text)
    if (ago !== null) return Math.max(0, now() - ago)
    const [, day] = isoTime.exec(text) ?? []
    const at = Date.parse(text)
    // A day such as February 30 is read as one of March.
    if (day === undefined || Number.isNaN(at) || new Date(Date.parse(day)).toISOString().slice(0, 10) !== day)
      throw new InvalidArgumentError(expectedMoment)
    if (at < 0) throw new InvalidArgumentError('Expected a time since 1970.')
    return at
  }
}

/**
 * A parser of decimal whole numbers between `min` and `max`, both included.
 * The parser throws InvalidArgumentError for anything else, for example `1.5`, `1e3` or an empty text.
 */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
    return value
  }
}

/**
 * Reads a 20-byte hex address in any case.
 * @returns The address, lowercased.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseAddress(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError('Expected 0x and 40 hex digits.')
  return text.toLowerCase()
}

/**
 * Reads a 32-byte hex hash in any case.
 * @returns The hash, lowercased.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseTxHash(text: string): string {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new InvalidArgumentError('Expected 0x and 64 hex digits.')
  return text.toLowerCase()
}

/**
 * Reads a chain id in plain digits, without zeros before it.
 * @throws InvalidArgumentError With the sentence `expected` when it is anything else.
 */
export function parseChainId(text: string, expected: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError(expected)
  return Number(text)
}

/**
 * Reads an id as lists show it.
 * @throws InvalidArgumentError When it is no such id.
 */
export function parseDeliveryId(text: string): string {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('Expected an id in plain digits, as deliveries list shows it.')
  return text
}

/**
 * Reads a name for the audit log.
 * @throws InvalidArgumentError When it is empty, longer than 100 characters, has spaces around it, or control characters in it.
 */
export function parseActor(text: string): string {
  if (!/^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u.test(text))
    throw new InvalidArgumentError('Expected a name of 1 to 100 characters, without spaces around it.')
  return text
}

/** A record of the audit log by its number and hash. */
export interface KeptRecord {
  readonly seq: number
  /** 64 lowercase hex digits. */
  readonly hash: string
}

/**
 * Reads `<seq>:<hash>`, as `audit verify` prints it.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseKeptRecord(text: string): KeptRecord {
  const [, seq, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError('Expected a number and a hash, as audit verify prints them: 12:9f2c….')
  return { seq: Number(seq), hash }
}

/**
 * Reads an absolute http or https URL. Which of the two is allowed is decided by the service: https, or http to this
 * machine in development.
 * @returns The URL as it was given.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseNotificationUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('Expected a full URL such as https://shop.example/webhook.')
  return text
}

/** Like {@link parseNotificationUrl}, and `none` for no notifications (null). */
export function parseOptionalUrl(text: string): string | null {
  return text === 'none' ? null : parseNotificationUrl(text)
}

/** Tokens that are accepted on one chain. */
export interface AcceptedTokens {
  readonly chainId: number
  /** As the tokens spell them. */
  readonly symbols: readonly string[]
}

const expectedTokens = 'Expected a chain and the symbols of tokens, such as 137:USDC,USDT.'

/**
 * Reads `<chainId>:<SYMBOL>[,<SYMBOL>…]`, and adds it to what was given before.
 * @throws InvalidArgumentError When the text is anything else, or names a token twice.
 */
export function parseAcceptedTokens(text: string, before: readonly AcceptedTokens[] = []): readonly AcceptedTokens[] {
  const colon = text.indexOf(':')
  const chainId = parseChainId(text.slice(0, Math.max(colon, 0)), expectedTokens)
  const symbols = text.slice(colon + 1).split(',')
  if (symbols.some((symbol) => !/^[^\s:]+$/.test(symbol))) throw new InvalidArgumentError(expectedTokens)
  if (new Set(symbols).size < symbols.length) throw new InvalidArgumentError('It names a token twice.')
  return [...before, { chainId, symbols }]
}

/** An address on one chain. */
export interface ChainAddress {
  readonly chainId: number
  /** 0x and 40 lowercase hex digits. */
  readonly address: string
}

/**
 * Reads `<chainId>:0x<address>`, and adds it to what was given before.
 * @throws InvalidArgumentError When the text is anything else.
 */
export function parseChainAddress(text: string, before: readonly ChainAddress[] = []): readonly ChainAddress[] {
  const colon = text.indexOf(':')
  const chainId = parseChainId(text.slice(0, Math.max(colon, 0)), 'Expected a chain and an address, such as 137:0x….')
  return [...before, { chainId, address: parseAddress(text.slice(colon + 1)) }]
}
