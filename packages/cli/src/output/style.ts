/** Colours of the terminal. @module */
import pico from 'picocolors'

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
