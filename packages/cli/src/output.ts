/** Formats values for people, and prints events as text or JSON without control characters. @module */
import type { Config } from '@payment-integration/server/service'
import pico from 'picocolors'
import type { Io } from './io.js'

/** `1,204,331`. */
export function groupDigits(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** `1 payment`, `1,204 payments`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`
}

/** A rate, with enough digits to differ from zero: `1,204`, `8.3`, `0.02`. */
export function formatRate(perSecond: number): string {
  if (perSecond >= 10 || perSecond === 0) return groupDigits(perSecond)
  return perSecond.toFixed(perSecond >= 0.1 ? 1 : 2)
}

const units = [
  { name: 's', seconds: 1, belowSeconds: 90 },
  { name: 'min', seconds: 60, belowSeconds: 5_400 },
  { name: 'h', seconds: 3_600, belowSeconds: 172_800 },
  { name: 'days', seconds: 86_400, belowSeconds: Number.POSITIVE_INFINITY },
] as const

/** A duration in a fitting unit, rounded up: `45 s`, `12 min`, `3 h`, `4 days`. */
export function roundDuration(seconds: number): string {
  const unit = units.find(({ belowSeconds }) => seconds < belowSeconds) ?? units[0]
  return `${groupDigits(Math.ceil(seconds / unit.seconds))} ${unit.name}`
}

const exactUnits = [
  { name: 'days', ms: 86_400_000, from: 2 },
  { name: 'h', ms: 3_600_000, from: 1 },
  { name: 'min', ms: 60_000, from: 1 },
  { name: 's', ms: 1_000, from: 1 },
  { name: 'ms', ms: 1, from: 0 },
] as const

/** A configured duration, exact, in the largest unit that gives a whole number: `7 days`, `24 h`, `90 min`. */
export function formatDuration(ms: number): string {
  const unit = exactUnits.find((each) => ms % each.ms === 0 && ms / each.ms >= each.from) ?? exactUnits[4]
  return `${groupDigits(ms / unit.ms)} ${unit.name}`
}

/** A time in UTC that sorts as text, such as `2026-03-01 09:30:00Z`. Null: `-`. */
export function momentText(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** A day in UTC, such as `2026-03-01`. */
export const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** The columns of a table by their titles. A number is grouped; a cell without a value is `-`. */
export type Columns<T> = Readonly<Record<string, (item: T) => string | number | null | undefined>>

/** Formats one row for each item, below a row of titles. */
export function toTable<T>(items: readonly T[], columns: Columns<T>): string[] {
  const cells = Object.values(columns)
  const format = (value: string | number | null | undefined) =>
    typeof value === 'number' ? groupDigits(value) : (value ?? '-')
  return alignRows([Object.keys(columns), ...items.map((item) => cells.map((cell) => format(cell(item))))])
}

/** Aligns rows in columns, two spaces apart. The first row is the header; columns of numbers align right. */
export function alignRows(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((row) => row.map(plain))
  const count = Math.max(0, ...rows.map((row) => row.length))
  const columns = Array.from({ length: count }, (_, index) => {
    const cells = rows.map((row) => row[index] ?? '')
    const [, ...values] = cells
    return {
      width: Math.max(...cells.map((cell) => cell.length)),
      isNumber: values.length > 0 && values.every((cell) => /^([0-9][0-9,.]*|-)$/.test(cell)),
    }
  })
  return rows.map((row) =>
    columns
      .map(({ width, isNumber }, index) =>
        isNumber ? (row[index] ?? '').padStart(width) : (row[index] ?? '').padEnd(width),
      )
      .join('  ')
      .trimEnd(),
  )
}

export const indent = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

/** `0x9f2c81..04e1`: enough to tell payments apart on a screen, not to identify one. */
export function shortHash(hash: string): string {
  return hash.length <= 14 ? hash : `${hash.slice(0, 8)}..${hash.slice(-4)}`
}

/**
 * Makes foreign text safe for a terminal: characters that move the cursor, color or hide text become spaces; tabs stay.
 * Every command's output is cleaned anyway; call this only before measuring or cutting a text.
 */
export function plain(text: string): string {
  return text.replace(/(?:(?!\t)[\p{C}\p{Zl}\p{Zp}])+/gu, ' ')
}

/** The sentence below a new secret. `subject` includes the verb, as in `The key is`; `pronoun` replaces it. */
export function shownOnce(subject: string, pronoun: 'it' | 'them' = 'it'): string {
  return `${subject} shown only this once: store ${pronoun} safely now.`
}

/** One event. `--json` prints it unchanged. */
export interface ReportedEvent {
  readonly event: string
}

/** Prints an event: as one JSON object, or as lines of text. */
export interface Reporter {
  <E extends ReportedEvent>(event: E, text: (event: E) => readonly string[]): void
  /** Prints a line for people, which `--json` omits. */
  note(line: string): void
  /** Shows progress: as a status line on a terminal, else a line every ten seconds. With `--json`, events show it. */
  progress(line: string): void
  /** With `--json` prints an event for each item; else the text of all items, or `none` without items. */
  all<T>(
    items: readonly T[],
    event: (item: T) => ReportedEvent,
    text: (items: readonly T[]) => readonly string[],
    none: string,
  ): void
}

/** An SGR code of {@link Style}. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this control character may stay.
const styleCode = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/

/**
 * Removes control characters from all output, so that foreign text, such as a server's answer, cannot control the
 * terminal. A printed line stays one line. Where colors are shown, the codes of {@link Style} stay.
 */
export function plainOutput(io: Io): Io {
  const { live } = io
  const clean = (line: string) =>
    (io.color ? line.split(styleCode) : [line]).map((part, index) => (index % 2 === 0 ? plain(part) : part)).join('')
  return {
    ...io,
    out: (line) => io.out(clean(line)),
    err: (line) => io.err(clean(line)),
    live: live && ((lines) => live(lines.map(clean))),
  }
}

/** A value as one line of JSON. Control characters are escaped, those beyond ASCII too. */
export function jsonLine(value: object): string {
  return escapeControls(JSON.stringify(value))
}

/** Escapes control characters in the strings of a JSON text, which keeps its meaning. */
export function escapeControls(json: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => character.split('').map(escaped).join(''))
}

/** Time between two lines of progress where there is no terminal, in milliseconds. */
export const progressLineMs = 10_000

/** Creates a reporter on standard output. With `json`, each line is one JSON object and nothing else is printed. */
export function createReporter(io: Pick<Io, 'out' | 'live' | 'now'>, json = false): Reporter {
  let progressAt = io.now()
  const print = (lines: readonly string[]) => lines.forEach(io.out)
  const report: Reporter = (event, text) => print(json ? [jsonLine(event)] : text(event))
  report.note = (line) => print(json ? [] : [line])
  report.progress = (line) => {
    if (json) return
    if (io.live !== undefined) return io.live([line])
    if (io.now() - progressAt < progressLineMs) return
    progressAt = io.now()
    io.out(line)
  }
  report.all = (items, event, text, none) => {
    if (json) print(items.map((item) => jsonLine(event(item))))
    else print(items.length === 0 ? [none] : text(items))
  }
  return report
}

/** Functions that color text, or return it unchanged where color is off. */
export type Style = Pick<ReturnType<typeof pico.createColors>, 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'>

export function createStyle(color: boolean): Style {
  return pico.createColors(color)
}

/** Whether to use color: on a terminal that is not dumb, while `NO_COLOR` is empty. @see https://no-color.org */
export function wantsColor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

/** Creates a logger on standard error, as standard output has the command's lines: text on a terminal, else JSON. */
export async function logToStandardError(
  { logLevel }: Pick<Config, 'logLevel'>,
  io: Pick<Io, 'err' | 'logsToTerminal' | 'color'>,
) {
  const { createPinoLogger } = await import('@payment-integration/server/service')
  const style = createStyle(io.color)
  const format = (line: string) => (io.logsToTerminal === true ? logText(line, style) : escapeControls(line.trimEnd()))
  return createPinoLogger({ level: logLevel, destination: { write: (line) => io.err(format(line)) } })
}

/** A log line for a person: time of day, message, fields. The configuration is omitted, because `serve` prints it. */
function logText(line: string, style: Style): string {
  const { level, time, msg, config: _, ...fields } = JSON.parse(line) as Record<string, unknown>
  const severity = Number(level) >= 50 ? style.red('error') : Number(level) >= 40 ? style.yellow('warn ') : 'info '
  const facts = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return `${style.dim(String(time).slice(11, 19))} ${severity} ${msg}  ${style.dim(facts.join(' '))}`.trimEnd()
}
