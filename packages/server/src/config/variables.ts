/** Reads single variables; every mistake becomes a sentence instead of an exception. @module */

/** The environment, as `process.env` gives it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Collects problems while variables are read. */
export interface Variables {
  readonly problems: string[]
  /** The value, or undefined when it is not set. Set to nothing counts as not set. */
  text(name: string): string | undefined
  /** One of `choices`. */
  choice<const T extends string>(name: string, choices: readonly T[], fallback: T): T
  /** A whole number in plain digits. `unit` is for the message. */
  integer(
    name: string,
    range: { readonly min: number; readonly max: number; readonly unit: string },
    fallback: number,
  ): number
}

/** Starts reading an environment. */
export function readVariables(env: Environment): Variables {
  const problems: string[] = []
  const text = (name: string) => {
    const value = env[name]
    return value === undefined || value === '' ? undefined : value
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

/** A value that is not secret, quoted and shortened for a message. */
export function show(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
}
