/** Keeps status lines at the bottom of a terminal while other lines scroll above. @module */

/** The terminal. */
export interface ScreenStream {
  write(text: string): unknown
  readonly columns?: number | undefined
}

/** A terminal with status lines. */
export interface Screen {
  /** Runs `write`, which prints whole lines, above the status lines. */
  above(write: () => void): void
  /** Replaces the status lines; an empty list removes them. */
  live(lines: readonly string[]): void
}

/** Limit of status lines, below the height of any terminal. */
const maxLines = 12
const defaultWidth = 80

/** Creates a screen without status lines. */
export function createScreen(stream: ScreenStream): Screen {
  let shown: readonly string[] = []

  function erase(): void {
    // Moves up to the first status line and clears everything below.
    if (shown.length > 0) stream.write(`\u001b[${shown.length}A\u001b[0J`)
  }
  function paint(): void {
    // A wrapped line takes two rows, and erase would leave one of them.
    const width = (stream.columns || defaultWidth) - 1
    if (shown.length > 0) stream.write(shown.map((line) => `${line.slice(0, width)}\n`).join(''))
  }
  return {
    above(write) {
      erase()
      write()
      paint()
    },
    live(lines) {
      erase()
      shown = lines.slice(0, maxLines)
      paint()
    },
  }
}
