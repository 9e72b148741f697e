/** Lines at the bottom of a terminal that are kept up to date while others scroll above them. @module */

/** The terminal. */
export interface ScreenStream {
  write(text: string): unknown
  readonly columns?: number | undefined
}

/** A terminal with such lines. */
export interface Screen {
  /** Runs `write`, which prints whole lines, above the kept ones. */
  above(write: () => void): void
  /** Keeps these lines in place of those before; none takes them away. */
  live(lines: readonly string[]): void
}

/** Most lines that are kept: they must not be more than the terminal has. */
const maxLines = 12
const widthUnlessKnown = 80

/** Builds it on a terminal that has none yet. */
export function createScreen(stream: ScreenStream): Screen {
  let kept: readonly string[] = []

  function erase(): void {
    // Up to the first of them, and away with everything below.
    if (kept.length > 0) stream.write(`\u001b[${kept.length}A\u001b[0J`)
  }
  function paint(): void {
    // A line that wrapped would take two rows, and one of them would stay behind.
    const width = (stream.columns || widthUnlessKnown) - 1
    if (kept.length > 0) stream.write(kept.map((line) => `${line.slice(0, width)}\n`).join(''))
  }
  return {
    above(write) {
      erase()
      write()
      paint()
    },
    live(lines) {
      erase()
      kept = lines.slice(0, maxLines)
      paint()
    },
  }
}
