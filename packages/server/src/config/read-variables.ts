/** Reads environment variables as `variables.ts` declares them, and describes them for people. @module */
import { readFileSync } from 'node:fs'
import { formatDefault, quoteText, stripMarkdown, type ValueOf, type Variable } from './kinds.js'
import { chainVariables, sections, variables } from './variables.js'

/** The environment, like `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

export type ReadFile = (path: string) => string

/** A configuration variable without secrets: secrets are counted, and URLs are cut to scheme, host and port. */
export interface Setting {
  readonly name: string
  /** The group of the variable, such as `Database`. */
  readonly section: string
  readonly value: string
  readonly defaultValue: string
  /** Whether the variable is not set. */
  readonly isDefault: boolean
  readonly doc: string
}

type VariableName = keyof typeof variables
type ChainVariableName = keyof typeof chainVariables

/** Longest value, in characters: enough for hundreds of tokens. It also limits the problems that one list can have. */
const maxLength = 65_536
const fileSuffix = '_FILE'

/** Starts reading an environment. An empty value counts as not set. A mistake becomes a problem, not an exception. */
export function createVariableReader(env: Environment, readFile: ReadFile = (path) => readFileSync(path, 'utf8')) {
  const problems: string[] = []
  const texts = new Map<string, string | null>()
  const values = new Map<string, unknown>()

  function readValue(name: string): string | null {
    const value = env[name] ?? ''
    if (value.length <= maxLength) return value === '' ? null : value
    problems.push(`${name} has ${value.length} characters; ${maxLength} at most.`)
    return null
  }

  function readContent(name: string, path: string, contentDescription: string): string | null {
    let flaw = 'which is empty'
    try {
      // Most such files end with a line break.
      const content = readFile(path).trim()
      if (content !== '' && content.length <= maxLength) return content
      if (content !== '') flaw = `which has ${content.length} characters; ${maxLength} at most`
    } catch (error) {
      flaw = `which cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`
    }
    // The path is not shown: it may be the secret itself, under the wrong name.
    problems.push(`${name} names a file ${flaw}; expected one that holds ${contentDescription}.`)
    return null
  }

  function findText(name: string, { content, isSecret }: Variable<unknown>): string | null {
    const text = readValue(name)
    if (text !== null && content !== undefined) return readContent(name, text, content)
    const path = isSecret ? readValue(name + fileSuffix) : null
    if (path === null) return text
    if (text === null) return readContent(name + fileSuffix, path, `the value of ${name}`)
    problems.push(`${name} and ${name}${fileSuffix} are both set; set one of them.`)
    return text
  }

  /** Reads a text once, so that each problem is reported once. */
  function readText(name: string, row: Variable<unknown>): string | null {
    const text = texts.has(name) ? (texts.get(name) ?? null) : findText(name, row)
    texts.set(name, text)
    return text
  }

  function isMet(condition: string): boolean {
    const [name = '', expectedText] = condition.split('=')
    const text = readText(name, variables[name as VariableName])
    if (expectedText === undefined) return text !== null
    return expectedText.endsWith('…') ? (text?.startsWith(expectedText.slice(0, -1)) ?? false) : text === expectedText
  }

  function evaluate(name: string, row: Variable<unknown>): unknown {
    const { onlyWith, required, expected } = row
    const text = readText(name, row)
    const isUsed = onlyWith === undefined || isMet(onlyWith)
    if (text !== null && isUsed) return row.parse(name, text, problems)
    if (text !== null) problems.push(`${name} is set; it is only used with ${onlyWith}.`)
    else if (required !== undefined && isUsed)
      problems.push(`${name} is not set; ${required === true ? `expected ${stripMarkdown(expected)}` : required}.`)
    return row.default
  }

  function read(name: string, row: Variable<unknown>): unknown {
    if (!values.has(name)) values.set(name, evaluate(name, row))
    return values.get(name)
  }

  function describe(section: string, name: string, row: Variable<unknown>): Setting {
    read(name, row)
    const text = readText(name, row)
    const defaultValue = stripMarkdown(formatDefault(row))
    const value = text === null ? defaultValue : row.mask(text)
    return { name, section, value, defaultValue, isDefault: text === null, doc: stripMarkdown(row.doc) }
  }

  /** Ids of the chains that have any variable, ascending. */
  function chainIds(): readonly number[] {
    const ids = new Set<number>()
    for (const name of Object.keys(env)) {
      const id = parseChainSuffix(name)
      if (id !== null && (env[name] ?? '') !== '' && chainIdPattern.test(id)) ids.add(Number(id))
    }
    return [...ids].sort((a, b) => a - b)
  }

  return {
    /** Every problem so far, each naming its variable. */
    problems,
    chainIds,
    /** Whether a variable is set, even to a malformed value. */
    isSet: (name: VariableName) => readText(name, variables[name]) !== null,
    /** The value of a variable; its default when it is not set or has a problem. */
    value: <N extends VariableName>(name: N) => read(name, variables[name]) as ValueOf<(typeof variables)[N]>,
    /** The value of a variable of one chain. */
    chainValue: <N extends ChainVariableName>(name: N, chainId: number) =>
      read(`${name}${chainId}`, chainVariables[name]) as ValueOf<(typeof chainVariables)[N]>,
    /** Reads every variable, and rejects unknown ones. */
    readAll(): readonly Setting[] {
      const settings = Object.entries(sections).flatMap(([section, rows]) => {
        if (rows !== chainVariables) return Object.entries(rows).map(([name, row]) => describe(section, name, row))
        return chainIds().flatMap((id) =>
          Object.entries(rows).map(([name, row]) => describe(`Chain ${id}`, `${name}${id}`, row)),
        )
      })
      for (const name of Object.keys(env).sort()) problems.push(...findNameProblems(name, env[name]))
      return settings
    },
  }
}

/** The variables of an environment. */
export type VariableReader = ReturnType<typeof createVariableReader>

/** Every variable with its default and meaning, in the order of docs/configuration.md. */
export function listVariables(): readonly Pick<Setting, 'section' | 'name' | 'defaultValue' | 'doc'>[] {
  return Object.entries(sections).flatMap(([section, rows]) =>
    Object.entries(rows).map(([prefix, row]) => {
      const name = rows === chainVariables ? `${prefix}<chainId>` : prefix
      return { section, name, defaultValue: stripMarkdown(formatDefault(row)), doc: stripMarkdown(row.doc) }
    }),
  )
}

const chainIdPattern = /^[1-9][0-9]{0,14}$/

/** The text after the prefix of a chain's variable, or null for another name. */
function parseChainSuffix(name: string): string | null {
  const prefix = Object.keys(chainVariables).find((each) => name.startsWith(each))
  if (prefix === undefined) return null
  const id = name.slice(prefix.length)
  const isFile = chainVariables[prefix as ChainVariableName].isSecret && id.endsWith(fileSuffix)
  return isFile ? id.slice(0, -fileSuffix.length) : id
}

function findNameProblems(name: string, value: string | undefined): string[] {
  if (!name.startsWith('PI_') || value === undefined) return []
  const id = parseChainSuffix(name)
  if (id !== null && value !== '' && !chainIdPattern.test(id))
    return [`${name} ends in ${quoteText(id)}; expected a chain id in plain digits, as in PI_RPC_URL_1.`]
  const secretName = name.endsWith(fileSuffix) ? name.slice(0, -fileSuffix.length) : ''
  const rows: Readonly<Record<string, Variable<unknown>>> = variables
  const isKnown = id !== null || Object.hasOwn(rows, name) || rows[secretName]?.isSecret === true
  return isKnown ? [] : [`${name} is not a known variable; check its spelling or remove it.`]
}
