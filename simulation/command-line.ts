/** What the simulators are asked on the command line. Exit code 2 and one line when they are misused. @module */
import { parseArgs } from 'node:util'

/** The values of options that each take a text. */
export function readOptions<Name extends string>(names: readonly Name[]): Partial<Record<Name, string>> {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    return parseArgs({ options }).values as Partial<Record<Name, string>>
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error))
  }
}

/** A whole number, or `otherwise` where none is given. */
export function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  return misused(`--${name} is ${JSON.stringify(text)}; pass a whole number.`)
}

/** Says what is wrong and ends the process. */
export function misused(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
