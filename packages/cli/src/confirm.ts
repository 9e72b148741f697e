/** Asks a question on the terminal. @module */
import { createInterface } from 'node:readline'
import type { Io } from './io.js'

/** Whether input and output are terminals, so that a person can answer. */
export function canAsk(io: Pick<Io, 'live' | 'input'>): boolean {
  return io.live !== undefined && (io.input() as { readonly isTTY?: boolean }).isTTY === true
}

/** Prints the question, and resolves whether the next line is `y` or `yes`. False when the input ends or is aborted. */
export async function confirm(question: string, io: Pick<Io, 'input' | 'out' | 'signal'>): Promise<boolean> {
  io.out(`${question} [y/N]`)
  const reader = createInterface({ input: io.input(), signal: io.signal })
  try {
    return await new Promise<boolean>((resolve) => {
      reader.once('line', (line) => resolve(/^\s*y(es)?\s*$/i.test(line)))
      reader.once('close', () => resolve(false))
    })
  } finally {
    reader.close()
  }
}
