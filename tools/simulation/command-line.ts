/** Parses the simulators' command line; misuse prints one line and exits with code 2. @module */
import { parseArgs } from 'node:util'

/** Values of options that take a text. */
export function readOptions<Name extends string>(names: readonly Name[]): Partial<Record<Name, string>> {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    return parseArgs({ options }).values as Partial<Record<Name, string>>
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error))
  }
}

/** A whole number, or `otherwise` when it is missing. */
export function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  return misused(`--${name} is ${JSON.stringify(text)}; pass a whole number.`)
}

/** Prints the problem and exits. */
export function misused(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
