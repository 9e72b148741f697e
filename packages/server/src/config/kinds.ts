/** Kinds of configuration variables: how a text becomes a value, and what people may see of it. @module */
import { parseUrl } from '@payment-integration/contract/internal'

/** Why a text is not a value of a kind. */
export class Flaw {
  /** A clause about the text, such as `has 3 characters`; empty: the text has another form. */
  readonly reason: string
  constructor(reason = '') {
    this.reason = reason
  }
}

/** Returns the value of a text, or its flaw. */
export type Parse<Value> = (text: string) => Value | Flaw

/** The facts of a variable that every kind has. */
export interface Facts {
  /** The meaning, in Markdown with links from docs/. */
  readonly doc: string
  /** The consequence of leaving the variable out, in Markdown. @default the default value, else `none` */
  readonly unset?: string
  /** Hidden in messages and descriptions; `<name>_FILE` may name a file with the value, like a container's secret. */
  readonly isSecret?: boolean
  /** May hold credentials: hidden in messages, and described without its secret parts. */
  readonly isUrl?: boolean
  /** The variable names a file whose content is the value: a description of the content. */
  readonly content?: string
  /** The variable without which this one is a mistake: its name, `<name>=<value>` or `<name>=<first characters>…`. */
  readonly onlyWith?: string
  /** Why the variable must be set where `onlyWith` is met; true: the message names the accepted values. */
  readonly required?: string | true
}

/** A row of the table in `variables.ts`. */
export interface Variable<Value> extends Facts {
  /** The accepted values, in Markdown; follows the word "expected". */
  readonly expected: string
  /** The value when the variable is not set. */
  readonly default: Value
  /** Reads a text. Problems begin with the name. */
  parse(name: string, text: string, problems: string[]): Value
  /** The text without what may be secret. */
  mask(text: string): string
}

/** The type of a variable's value. */
export type ValueOf<Row> = Row extends Variable<infer Value> ? Value : never

/** A text of a special form. */
export function text<Value, const Default = null>(
  expected: string,
  parseText: Parse<Value>,
  { fallback = null as Default, ...facts }: Facts & { readonly fallback?: Default },
): Variable<Value | Default> {
  const describe = describeFlaws(expected, facts)
  return {
    expected,
    default: fallback,
    ...facts,
    parse(name, given, problems) {
      const value = parseText(given)
      if (!(value instanceof Flaw)) return value
      problems.push(describe(name, given, value))
      return fallback
    },
    mask: (given) => maskText(given, facts),
  }
}

interface ListFacts<Value, Default> extends Facts {
  /** @default none */
  readonly fallback?: Default
  readonly max?: number
  /** Two items with the same key are a mistake. */
  readonly getKey?: (item: Value) => unknown
}

/** Texts separated by commas. A message names the position of a wrong text. */
export function list<Value, const Default = readonly never[]>(
  expected: string,
  parseItem: Parse<Value>,
  { fallback = [] as Default, max, getKey, ...facts }: ListFacts<Value, Default>,
): Variable<readonly Value[] | Default> {
  const describe = describeFlaws(expected, facts)
  const split = (given: string) => given.split(',').map((part) => part.trim())
  return {
    expected: `${expected}; several are separated by commas${max === undefined ? '' : `, at most ${max}`}`,
    default: fallback,
    ...facts,
    parse(name, given, problems) {
      const parts = split(given)
      if (max !== undefined && parts.length > max)
        problems.push(`${name} has ${parts.length} entries; expected at most ${max}.`)
      const positions = new Map<unknown, number>()
      return parts.flatMap((part, index) => {
        const subject = parts.length === 1 ? name : `${name} (${index + 1} of ${parts.length})`
        const item = parseItem(part)
        if (item instanceof Flaw) {
          problems.push(describe(subject, part, item))
          return []
        }
        const key = getKey?.(item)
        const firstPosition = getKey && positions.get(key)
        if (firstPosition !== undefined) problems.push(`${subject} repeats entry ${firstPosition}; keep one of them.`)
        positions.set(key, index + 1)
        return [item]
      })
    },
    mask(given) {
      const parts = split(given)
      if (facts.isSecret && !facts.isUrl) return `${parts.length} set`
      return parts.map((part) => maskText(part, facts)).join(', ')
    },
  }
}

/** A whole number in plain digits. */
export function integer<const Default extends number | null>(
  { unit, min, max }: { readonly unit: string; readonly min: number; readonly max: number },
  fallback: Default,
  facts: Facts,
): Variable<number | Default> {
  return text(`${unit} from ${min} to ${max}, in plain digits`, (given) => parseInteger(given, min, max), {
    fallback,
    ...facts,
  })
}

export function parseInteger(given: string, min: number, max: number): number | Flaw {
  const number = /^(0|[1-9][0-9]{0,15})$/.test(given) ? Number(given) : Number.NaN
  return number >= min && number <= max ? number : new Flaw()
}

/** One of several words. */
export function choice<const Word extends string, const Default extends Word | null>(
  words: readonly Word[],
  fallback: Default,
  facts: Facts,
): Variable<Word | Default> {
  const find = (given: string) => words.find((word) => word === given) ?? new Flaw()
  return text(`one of ${words.map((word) => `\`${word}\``).join(', ')}`, find, { fallback, ...facts })
}

/** `on` or `off`. */
export function onOff<const Default extends boolean | null>(
  fallback: Default,
  facts: Facts,
): Variable<boolean | Default> {
  const parseWord = (given: string) => (['on', 'off'].includes(given) ? given === 'on' : new Flaw())
  const unset = fallback ? '`on`' : '`off`'
  return text('one of `on`, `off`', parseWord, { fallback, ...(fallback === null ? {} : { unset }), ...facts })
}

/** Markdown as plain text, without links. */
export function stripMarkdown(markdown: string): string {
  return markdown.replace(/\[([^\]]{1,99})\]\([^)]{1,99}\)/g, '$1').replaceAll('`', '')
}

/** The default of a variable, in Markdown. */
export function formatDefault({ unset, default: value }: Variable<unknown>): string {
  const isNone = value === null || (Array.isArray(value) && value.length === 0)
  return unset ?? (isNone ? 'none' : `\`${value}\``)
}

/** Quotes and shortens a value for a message. */
export function quoteText(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
}

function describeFlaws(markdown: string, { isSecret, isUrl, content }: Facts) {
  const isHidden = isSecret || isUrl || content !== undefined
  // Computed once: a list may have tens of thousands of items.
  const expected = stripMarkdown(markdown)
  return (subject: string, given: string, { reason }: Flaw): string => {
    const shown = reason === '' ? `is ${quoteText(given)}` : `is ${quoteText(given)}, which ${reason}`
    return `${subject} ${isHidden ? reason || 'is not usable' : shown}; expected ${expected}.`
  }
}

// User, password, path and query of a URL may hold keys. The path of a database is its name.
function maskText(given: string, { isSecret, isUrl, content }: Facts): string {
  if (!isUrl) return isSecret || content ? 'set' : given
  if (given.startsWith('sqlite:')) return given
  const url = parseUrl(given)
  const name = url?.protocol.startsWith('postgres') ? url.pathname : ''
  return url === null ? 'set' : `${url.protocol}//${url.host}${name}`
}
