/** Prints the demo's events. @module */
import type { Io } from '../io.js'
import { createStyle } from '../output/style.js'
import { demoText, isLoud } from './demo-text.js'
import type { DemoPrinter } from './stage.js'

/** With `json` one object per line, each with the time as `at`; else text, in which empty lines do not add up. `quiet` leaves out what went well. */
export function createDemoPrinter(
  io: Pick<Io, 'out' | 'colour'>,
  options: { readonly json: boolean; readonly quiet: boolean },
): DemoPrinter {
  const style = createStyle(io.colour && !options.json)
  let last: string | null = null
  return (event, time) => {
    if (options.quiet && !isLoud(event)) return
    if (options.json) return io.out(JSON.stringify({ ...event, at: new Date(time).toISOString() }))
    for (const line of demoText(event, time, style)) {
      if (line !== '' || last !== '') io.out(line)
      last = line
    }
  }
}
