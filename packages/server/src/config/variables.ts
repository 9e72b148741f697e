/** Reads single variables; a mistake becomes a message, not an exception. @module */
import { readFileSync } from 'node:fs'

/** The environment, like `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads a whole file as text. */
export type ReadFile = (path: string) => string

/** Variables whose value may come from the file that `<name>_FILE` names, like container secrets. */
const inFiles: readonly string[] = ['PI_DATABASE_URL']

/** Names of the `_FILE` variables. */
export const fileVariables: readonly string[] = inFiles.map(fileVariable)

/** Collects problems while variables are read. */
export interface Variables {
  readonly problems: string[]
  /** The value, or undefined when it is not set. An empty value counts as not set. It may come from a file. */
  text(name: string): string | undefined
  /** One of `choices`. */
  choice<const T extends string>(name: string, choices: readonly T[], fallback: T): T
  /** A whole number in plain digits. The message uses `unit`. */
  integer(
    name: string,
    range: { readonly min: number; readonly max: number; readonly unit: string },
    fallback: number,
  ): number
}

/** Longest value, in characters: a list of some hundred tokens. A longer one could give a message per part. */
const longest = 65_536

/** Starts reading an environment. */
export function readVariables(env: Environment, readFile: ReadFile = (path) => readFileSync(path, 'utf8')): Variables {
  const problems: string[] = []
  const tooLong = new Set<string>()
  const given = (name: string) => {
    const value = env[name]
    if (value === undefined || value === '') return undefined
    if (value.length <= longest) return value
    if (!tooLong.has(name)) problems.push(`${name} has ${value.length} characters; ${longest} at most.`)
    tooLong.add(name)
    return undefined
  }
  const contents = new Map(inFiles.map((name) => [name, contentOf(name)]))
  const text = (name: string) => given(name) ?? contents.get(name)

  function contentOf(name: string): string | undefined {
    const path = given(fileVariable(name))
    if (path === undefined) return undefined
    if (given(name) !== undefined) {
      problems.push(`${name} and ${fileVariable(name)} are both set; set one of them.`)
      return undefined
    }
    let flaw = 'which is empty'
    try {
      // Most such files end with a line break.
      const content = readFile(path).trim()
      if (content !== '' && content.length <= longest) return content
      if (content !== '') flaw = `which has ${content.length} characters; ${longest} at most`
    } catch (error) {
      flaw = `which cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`
    }
    problems.push(`${fileVariable(name)} is ${show(path)}, ${flaw}; expected a file that holds the value of ${name}.`)
    return undefined
  }

  return {
    problems,
    text,
    choice(name, choices, fallback) {
      const value = text(name)
      if (value === undefined) return fallback
      const found = choices.find((choice) => choice === value)
      if (found === undefined) problems.push(`${name} is ${show(value)}; expected one of ${choices.join(', ')}.`)
      return found ?? fallback
    },
    integer(name, { min, max, unit }, fallback) {
      const value = text(name)
      if (value === undefined) return fallback
      const number = /^(0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      problems.push(`${name} is ${show(value)}; expected ${unit} from ${min} to ${max}, in plain digits.`)
      return fallback
    },
  }
}

function fileVariable(name: string): string {
  return `${name}_FILE`
}

/** Quotes and shortens a value that is not secret, for a message. */
export function show(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
}

/** An address or host name to listen on, by default reachable only from this machine. */
export function readHostOf(name: string, { text, problems }: Variables): string {
  const host = text(name) ?? '127.0.0.1'
  if (!/^[0-9A-Za-z.:-]{1,253}$/.test(host))
    problems.push(`${name} is ${show(host)}; expected an address or host name of this machine, without scheme or port.`)
  return host
}
