/** Prints events as text or JSON, chooses colours, and logs to standard error. @module */
import type { Config } from '@payment-integration/server'
import pico from 'picocolors'
import type { Io } from './io.js'

/** One thing that happened. Serialised as it is for `--json`. */
export interface ReportedEvent {
  readonly event: string
}

/** Writes each event once: as one JSON object, or as lines of text. */
export type Reporter = <E extends ReportedEvent>(event: E, text: (event: E) => readonly string[]) => void

/** A reporter on standard output. With `json`, every line of it is one JSON object and nothing else is printed. */
export function createReporter(io: Pick<Io, 'out'>, json: boolean): Reporter {
  return (event, text) => {
    const lines = json ? [JSON.stringify(event)] : text(event)
    for (const line of lines) io.out(line)
  }
}

/** Functions from text to coloured text; they return it unchanged where nobody sees colour. */
export type Style = Pick<ReturnType<typeof pico.createColors>, 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'>

/** The style for a run. */
export function createStyle(colour: boolean): Style {
  return pico.createColors(colour)
}

/**
 * Whether to colour: on a terminal, unless `NO_COLOR` holds anything or the terminal is dumb.
 * @see https://no-color.org
 */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

/**
 * A logger at the configured level on standard error: standard output carries what the command itself says, and with
 * `--json` nothing but its events.
 */
export async function logToStandardError({ logLevel }: Pick<Config, 'logLevel'>, io: Pick<Io, 'err'>) {
  const { createPinoLogger } = await import('@payment-integration/server/service')
  return createPinoLogger({ level: logLevel, destination: { write: (line) => io.err(line.trimEnd()) } })
}
