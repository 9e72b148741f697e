/** The acts of the console, by their names in the address. @module */
import type { Act } from './act.js'
import { replayAct } from './replay.js'

/** All acts. */
export const acts: Readonly<Record<string, Act>> = {
  replay: replayAct,
}
