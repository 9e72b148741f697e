/** Prints the demo's events. @module */
import type { Io } from '../io.js'
import { createStyle } from '../output/style.js'
import { demoText, isLoud } from './demo-text.js'
import type { DemoPrinter } from './stage.js'

/** With `json` one object per line, each with the time as `at`; else text. `quiet` leaves out what went well. */
export function createDemoPrinter(
  io: Pick<Io, 'out' | 'colour'>,
  options: { readonly json: boolean; readonly quiet: boolean },
): DemoPrinter {
  const style = createStyle(io.colour && !options.json)
  return (event, time) => {
    if (options.quiet && !isLoud(event)) return
    if (options.json) return io.out(JSON.stringify({ ...event, at: new Date(time).toISOString() }))
    for (const line of demoText(event, time, style)) io.out(line)
  }
}
