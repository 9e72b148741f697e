/** Prints what happened, for a person or for a machine. @module */
import type { Io } from '../io.js'

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
