/** Prints events as text or JSON without control characters, chooses colours, and logs to standard error. @module */
import type { Config } from '@payment-integration/server/service'
import pico from 'picocolors'
import { plain } from './format.js'
import type { Io } from './io.js'

/** One event. `--json` prints it unchanged. */
export interface ReportedEvent {
  readonly event: string
}

/** Prints an event: as one JSON object, or as lines of text. */
export type Reporter = <E extends ReportedEvent>(event: E, text: (event: E) => readonly string[]) => void

/** An SGR code of {@link Style}. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the one that may stay.
const styleCode = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/

/**
 * The same output without control characters: foreign text, such as a name or an answer of a server, cannot act on the
 * terminal wherever a command prints it. A line is one line. Where colours are shown, those of {@link Style} stay.
 */
export function plainOutput(io: Io): Io {
  const { live } = io
  const clean = (line: string) =>
    (io.colour ? line.split(styleCode) : [line]).map((part, index) => (index % 2 === 0 ? plain(part) : part)).join('')
  return {
    ...io,
    out: (line) => io.out(clean(line)),
    err: (line) => io.err(clean(line)),
    live: live && ((lines) => live(lines.map(clean))),
  }
}

/** A value as one line of JSON. Control characters of its texts are escaped, those above ASCII too. */
export function jsonLine(value: object): string {
  return escapeControls(JSON.stringify(value))
}

/** JSON text with the control characters of its strings escaped: it means the same. */
export function escapeControls(json: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => character.split('').map(escaped).join(''))
}

/** Creates a reporter on standard output. With `json`, each line is one JSON object and nothing else is printed. */
export function createReporter(io: Pick<Io, 'out'>, json: boolean): Reporter {
  return (event, text) => {
    const lines = json ? [jsonLine(event)] : text(event)
    for (const line of lines) io.out(line)
  }
}

/** Functions that colour text; without colour they return it unchanged. */
export type Style = Pick<ReturnType<typeof pico.createColors>, 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'>

/** Creates the style of a run. */
export function createStyle(colour: boolean): Style {
  return pico.createColors(colour)
}

/**
 * Whether to colour: on a terminal, unless `NO_COLOR` is not empty or the terminal is dumb.
 * @see https://no-color.org
 */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

/** Creates a logger on standard error: standard output is for the command's own lines or events. */
export async function logToStandardError({ logLevel }: Pick<Config, 'logLevel'>, io: Pick<Io, 'err'>) {
  const { createPinoLogger } = await import('@payment-integration/server/service')
  return createPinoLogger({ level: logLevel, destination: { write: (line) => io.err(escapeControls(line.trimEnd())) } })
}
