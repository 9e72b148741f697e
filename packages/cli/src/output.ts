/** Prints events as text or JSON, chooses colours, and logs to standard error. @module */
import type { Config } from '@payment-integration/server/service'
import pico from 'picocolors'
import type { Io } from './io.js'

/** One event. `--json` prints it unchanged. */
export interface ReportedEvent {
  readonly event: string
}

/** Prints an event: as one JSON object, or as lines of text. */
export type Reporter = <E extends ReportedEvent>(event: E, text: (event: E) => readonly string[]) => void

/** Creates a reporter on standard output. With `json`, each line is one JSON object and nothing else is printed. */
export function createReporter(io: Pick<Io, 'out'>, json: boolean): Reporter {
  return (event, text) => {
    const lines = json ? [JSON.stringify(event)] : text(event)
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
  return createPinoLogger({ level: logLevel, destination: { write: (line) => io.err(line.trimEnd()) } })
}
