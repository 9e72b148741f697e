/** Reads single variables; a mistake becomes a message, not an exception. @module */
import { readFileSync } from 'node:fs'

/** The environment, like `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads a whole file as text. */
export type ReadFile = (path: string) => string

/** Variables that hold secrets: each value may come from the file that `<name>_FILE` names, like container secrets. */
const secrets: readonly string[] = [
  'PI_DATABASE_URL',
  'PI_DATABASE_DIRECT_URL',
  'PI_DATABASE_READ_URL',
  'PI_MASTER_KEY',
  'PI_PROCESSOR_SECRETS',
  'PI_RECEIPTS_URL',
  'PI_METRICS_TOKEN',
  'PI_OIDC_CLIENT_SECRET',
  'PI_IDENTITY_APP_TOKEN',
  'PI_IDENTITY_SECRET_KEY',
  'PI_IDENTITY_WEBHOOK_SECRETS',
]
/** A chain id follows: the addresses of nodes may hold API keys. */
const secretPrefixes = ['PI_RPC_URL_', 'PI_HEADS_URL_'] as const
const suffix = '_FILE'

/** Names of the `_FILE` variables of secrets that no chain has. */
export const fileVariables: readonly string[] = secrets.map((name) => `${name}${suffix}`)

/** The secret of a `_FILE` variable, or null when it is none. */
function secretOf(name: string): string | null {
  if (!name.endsWith(suffix)) return null
  const secret = name.slice(0, -suffix.length)
  return secrets.includes(secret) || secretPrefixes.some((prefix) => secret.startsWith(prefix)) ? secret : null
}

/** The variable whose value is given: for the `_FILE` variable of a secret that of the secret. */
export const valueName = (name: string): string => secretOf(name) ?? name

/** Collects problems while variables are read. */
export interface Variables {
  readonly problems: string[]
  /** The value, or undefined when it is not set. An empty value counts as not set. It may come from a file. */
  text(name: string): string | undefined
  /** The content of the file that the variable names, trimmed; undefined when it is not set. */
  file(name: string, what: string): string | undefined
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
  function contentOf(name: string, what: string): string | undefined {
    const path = given(name)
    if (path === undefined) return undefined
    let flaw = 'which is empty'
    try {
      // Most such files end with a line break.
      const content = readFile(path).trim()
      if (content !== '' && content.length <= longest) return content
      if (content !== '') flaw = `which has ${content.length} characters; ${longest} at most`
    } catch (error) {
      flaw = `which cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`
    }
    // The path is not shown: it may be the secret itself, under the wrong name.
    problems.push(`${name} names a file ${flaw}; expected one that holds ${what}.`)
    return undefined
  }

  function secretContent(name: string, secret: string): string | undefined {
    if (given(name) === undefined || given(secret) === undefined) return contentOf(name, `the value of ${secret}`)
    problems.push(`${secret} and ${name} are both set; set one of them.`)
    return undefined
  }

  const contents = new Map<string, string | undefined>()
  for (const name of Object.keys(env).sort()) {
    const secret = secretOf(name)
    if (secret !== null) contents.set(secret, secretContent(name, secret))
  }
  const text = (name: string) => given(name) ?? contents.get(name)

  return {
    problems,
    text,
    file: contentOf,
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
