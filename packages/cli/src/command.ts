/** Declares command groups, shared options and examples, and parses values of arguments and options. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import { parseInstant } from '@payment-integration/contract/internal-io'
import { type Command, InvalidArgumentError } from 'commander'
import { UsageError } from './errors.js'
import type { ExitCode, Io } from './io.js'

/** A command's work. It gets the arguments, all options including global ones, and the `Io`. No result: exit code 0. */
type Work = (...given: never[]) => Promise<void> | Promise<ExitCode>

/** Passed to each `add…` function: the program or a group, the maker of actions for commander, and the process. */
export interface Cli {
  readonly program: Command
  run(work: Work): (...given: unknown[]) => Promise<void>
  readonly io: Io
}

/** Optional command-line options by name; flags unless `Value` is given. */
export type Options<Name extends string, Value = true> = { readonly [_ in Name]?: Value | undefined }

/** Adds a command with its work and the examples of its help text. */
export function addCommand(cli: Cli, name: string, work: Work, ...exampleLines: readonly string[]): Command {
  return cli.program.command(name).addHelpText('after', formatExamples(exampleLines)).action(cli.run(work))
}

export const databaseOption = ['--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)'] as const

/** The integration of the examples. */
export const exampleAddress = `0x${'a1'.repeat(20)}`

export function formatExamples(lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  $ payment-integration ${line}`)].join('\n')
}

export const defaultLimit = 50

const parseLimit = wholeNumberParser(1, 1_000_000)
/** The option of a list that takes the largest number of printed rows. @param rows - Their noun, in the plural. */
export const limitOption = (rows: string) =>
  ['--limit <number>', `print at most this many ${rows} (default ${defaultLimit})`, parseLimit] as const

/** Collects the values of a repeated option. */
export function append(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}

/** Adds the option `--actor`, for commands that the audit log records. */
export function withActor(command: Command): Command {
  return command.option('--actor <name>', 'your name in the audit log (PI_ACTOR, default cli:<user>)', parseActor)
}

/**
 * Adds a group of commands that work on the database. The returned `add` adds a command, and `change` adds a command
 * that the audit log records. Examples are given without the name of the group.
 */
export function addGroup(cli: Cli, noun: string, about: string, ...groupExamples: readonly string[]) {
  const withNoun = (lines: readonly string[]) => lines.map((line) => `${noun} ${line}`)
  const group = cli.program
    .command(noun)
    .summary(about)
    .description(`${about} (in the database that PI_DATABASE_URL names)`)
    .helpCommand(false)
    .addHelpText('after', formatExamples(withNoun(groupExamples)))
  const add = (name: string, work: Work, ...exampleLines: readonly string[]): Command =>
    addCommand({ ...cli, program: group }, name, work, ...withNoun(exampleLines)).option(...databaseOption)
  return { add, change: (...given: Parameters<typeof add>) => withActor(add(...given)) }
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** The longest delay of a Node timer in milliseconds: about 24.8 days. */
const maxTimerMs = 2 ** 31 - 1

/** Parses a duration such as `500ms`, `3s`, `10m`, `24h` or `7d`, up to about 24.8 days. @returns Milliseconds. */
export function parseDuration(text: string): number {
  const ms = durationMs(text)
  if (ms === null) throw new InvalidArgumentError('Expected a number and a unit: 500ms, 3s, 10m, 24h or 7d.')
  if (ms > maxTimerMs) throw new InvalidArgumentError('Expected at most 24 days.')
  return ms
}

/** Creates a parser that accepts a duration from 1 ms to `longest`, and returns milliseconds. */
export function durationParser(longest: '10m' | '24d'): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text)
    if (ms >= 1 && ms <= Number(durationMs(longest))) return ms
    throw new InvalidArgumentError(`Expected a time from 1ms to ${longest}.`)
  }
}

/** A duration of any length in milliseconds, or null when the text is not a duration. */
function durationMs(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  return digits === '' ? null : Number(digits) * unitMs[unit as keyof typeof unitMs]
}

const expectedMoment =
  'Expected a time such as 2026-03-01, 2026-03-01T09:30:00Z or 2026-03-01T09:30+01:00, or how long ago: 90m, 2h, 7d.'

/**
 * Creates a parser that accepts an ISO 8601 date (midnight UTC), a date and time, or how long ago, and returns unix
 * milliseconds. It rejects a time without a zone, which would depend on the machine.
 */
export function momentParser(clock: Pick<Io, 'now'>): (text: string) => number {
  return (text) => {
    const ago = durationMs(text)
    if (ago !== null) return Math.max(0, clock.now() - ago)
    const at = parseInstant(text)
    if (at === null) throw new InvalidArgumentError(expectedMoment)
    if (at < 0) throw new InvalidArgumentError('Expected a time since 1970.')
    return at
  }
}

/** @throws UsageError `ERR_USAGE` when no time can be both at or after `since` and before `until`. */
export function checkTimes(
  { since, until }: { readonly since?: number | undefined; readonly until?: number | undefined },
  noun: string,
): void {
  if (since !== undefined && until !== undefined && since >= until)
    throw new UsageError(`--since is not before --until, so no ${noun} can match; swap them.`)
}

/** Creates a parser of whole numbers in plain digits, from `min` to `max`. */
export function wholeNumberParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
    return value
  }
}

export const parsePort = wholeNumberParser(0, 65_535)

/** Creates a parser that accepts a text of the pattern. @param expected - The message about any other text. */
export function patternParser(pattern: RegExp, expected: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text
    throw new InvalidArgumentError(expected)
  }
}

const parseMixedCase = patternParser(/^0x[0-9a-fA-F]{40}$/, 'Expected 0x and 40 hex digits.')
export const parseAddress = (text: string) => parseMixedCase(text).toLowerCase()

const parseHash = patternParser(/^0x[0-9a-fA-F]{64}$/, 'Expected 0x and 64 hex digits.')
export const parseTxHash = (text: string) => parseHash(text).toLowerCase()

const parseDigits = patternParser(/^[1-9]\d{0,14}$/, 'Expected a chain id in plain digits.')
export const parseChainId = (text: string) => Number(parseDigits(text))

/** Splits `137:rest`. @param expected - The message for a text without a chain id. */
function splitChain(text: string, expected: string): { readonly chainId: number; readonly rest: string } {
  const [, chainId, rest = ''] = /^([1-9]\d{0,14}):(.*)$/s.exec(text) ?? []
  if (chainId === undefined) throw new InvalidArgumentError(expected)
  return { chainId: Number(chainId), rest }
}

export const parseDeliveryId = patternParser(
  /^[1-9]\d{0,14}$/,
  'Expected an id in plain digits, as deliveries list prints it.',
)

/** Parses a name for the audit log: 1 to 100 characters, no control characters, no spaces at either end. */
export const parseActor = patternParser(
  /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u,
  'Expected a name of 1 to 100 characters, without spaces around it.',
)

export type ExpectedRecord = ReturnType<typeof parseExpectedRecord>

export function parseExpectedRecord(text: string) {
  const [, seq, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq === undefined || hash === undefined)
    throw new InvalidArgumentError('Expected a number and a hash, as audit head prints them: 12:9f2c….')
  return { seq: Number(seq), hash }
}

/** Parses the URL of a receiver on any host. Rejects a password: other users of the machine can see arguments. */
export function parseReceiverUrl(text: string): string {
  const url = parseUrl(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Expected a URL without credentials, such as http://localhost:3000/webhook.')
  return url.href
}

/** Checks an absolute http or https URL, and returns it unchanged. Whether http is allowed is decided later. */
export function parseHttpUrl(text: string): string {
  const url = parseUrl(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('Expected a full URL such as https://shop.example/webhook.')
  return text
}

export interface AcceptedTokens {
  readonly chainId: number
  readonly symbols: readonly string[]
}

const expectedTokens = 'Expected a chain and the symbols of tokens, such as 137:USDC,USDT.'

export function parseAcceptedTokens(text: string, earlier: readonly AcceptedTokens[] = []): readonly AcceptedTokens[] {
  const { chainId, rest } = splitChain(text, expectedTokens)
  const symbols = rest.split(',')
  if (symbols.some((symbol) => !/^[^\s:]+$/.test(symbol))) throw new InvalidArgumentError(expectedTokens)
  if (new Set(symbols).size < symbols.length) throw new InvalidArgumentError('Name each token once.')
  return [...earlier, { chainId, symbols }]
}

export interface ChainAddress {
  readonly chainId: number
  readonly address: string
}

export function parseChainAddress(text: string, earlier: readonly ChainAddress[] = []): readonly ChainAddress[] {
  const { chainId, rest } = splitChain(text, 'Expected a chain and an address, such as 137:0x….')
  return [...earlier, { chainId, address: parseAddress(rest) }]
}
