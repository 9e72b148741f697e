/** A schema as one function that says whether a value fits, and notes what the schema does not name. @module */
import type * as z from 'zod/mini'
import type { UnknownPart } from '../unknown-part.js'

/** A stranger on its way up: the path is completed from the inside out. */
export interface Note extends UnknownPart {
  readonly path: string[]
}

/** True only for what zod would take unchanged. False says nothing: zod is asked then. */
export type Check = (value: unknown, notes: Note[]) => boolean

type Schema = z.core.$ZodType
type Any = z.core.$ZodTypes

/** Notes that differ. A hostile answer must not fill the memory with them. */
const noteLimit = 1_000

/** Knows the kinds of schema that this package reads with; any other kind is left to zod. */
export function compileCheck(schema: Schema): Check {
  const { def } = (schema as Any)._zod
  switch (def.type) {
    case 'object':
      return objectCheck(def.shape, def.catchall !== undefined && def.catchall._zod.def.type === 'unknown')
    case 'array':
      return def.checks?.length ? byZod(schema) : arrayCheck(compileCheck(def.element))
    case 'nullable': {
      const inner = compileCheck(def.innerType)
      return (value, notes) => value === null || inner(value, notes)
    }
    case 'union':
      return openWordCheck(def.options) ?? byZod(schema)
    case 'string':
      return stringCheck(schema) ?? byZod(schema)
    case 'number':
      return wholeNumberCheck(schema) ?? byZod(schema)
    case 'boolean':
      return (value) => typeof value === 'boolean'
    default:
      return byZod(schema)
  }
}

/** Right for every schema without a transform, and slow. */
function byZod(schema: Schema): Check {
  const { safeParse } = schema as unknown as z.ZodMiniType
  return (value) => safeParse(value).success
}

function objectCheck(shape: Readonly<Record<string, Schema>>, open: boolean): Check {
  const fields = new Map(Object.entries(shape).map(([name, field]) => [name, fieldCheck(field)]))
  const needed = [...fields.values()].reduce((sum, { counts }) => sum + counts, 0)
  return (value, notes) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const object = value as Readonly<Record<string, unknown>>
    let found = 0
    // One walk over what is there: much faster than asking for each field, and then for what else there is.
    for (const name in object) {
      const field = fields.get(name)
      if (field !== undefined) {
        const before = notes.length
        if (!field.fits(object[name], notes)) return false
        if (notes.length > before) addPart(notes, before, name)
        found += field.counts
        continue
      }
      if (notes.length < noteLimit) notes.push({ kind: 'field', path: [name], value: null })
      // A copy by assignment would give the copy another prototype; zod takes such a field out.
      if (!open || name === '__proto__') return false
    }
    return found === needed
  }
}

/** A field that may be absent does not count among those that must be there. */
function fieldCheck(schema: Schema): { readonly fits: Check; readonly counts: 0 | 1 } {
  const { def } = (schema as Any)._zod
  return def.type === 'optional'
    ? { fits: compileCheck(def.innerType), counts: 0 }
    : { fits: compileCheck(schema), counts: 1 }
}

function arrayCheck(fits: Check): Check {
  return (value, notes) => {
    if (!Array.isArray(value)) return false
    const before = notes.length
    let told: Set<string> | null = null
    for (const element of value) {
      const from = notes.length
      if (!fits(element, notes)) return false
      if (notes.length === from) continue
      told ??= new Set()
      dropRepeated(notes, from, told)
    }
    if (notes.length > before) addPart(notes, before, '*')
    return true
  }
}

/** Takes out what an element before has told: a page of like payments must leave room for the one that is not. */
function dropRepeated(notes: Note[], from: number, told: Set<string>): void {
  let kept = from
  for (let at = from; at < notes.length; at += 1) {
    const note = notes[at] as Note
    const key = JSON.stringify([note.path, note.value])
    if (told.has(key)) continue
    told.add(key)
    notes[kept] = note
    kept += 1
  }
  notes.length = kept
}

function addPart(notes: readonly Note[], from: number, part: string): void {
  for (let at = from; at < notes.length; at += 1) notes[at]?.path.unshift(part)
}

/** Known words, or any text: the union that `openEnum` makes. */
function openWordCheck(options: readonly Schema[]): Check | null {
  const [known, rest, ...more] = options.map((option) => option as Any)
  if (known?._zod.def.type !== 'enum' || rest?._zod.def.type !== 'string' || more.length > 0) return null
  const words = new Set<unknown>(Object.values(known._zod.def.entries))
  const fits = compileCheck(rest)
  return (value, notes) => {
    if (words.has(value)) return true
    if (!fits(value, notes)) return false
    if (notes.length < noteLimit) notes.push({ kind: 'value', path: [], value: value as string })
    return true
  }
}

/** A text with patterns and a least length, and nothing else that zod could ask of it. */
function stringCheck(schema: Schema): Check | null {
  const { def } = (schema as Any)._zod
  const patterns: RegExp[] = []
  let least = 0
  // A format, as an instant, is a check of itself.
  const asked = [...('format' in def ? [def] : []), ...(def.checks ?? []).map(({ _zod }) => _zod.def)]
  for (const each of asked as readonly AskedOfText[]) {
    const { check, minimum, pattern } = each
    if (check === 'min_length' && minimum !== undefined) least = Math.max(least, minimum)
    else if (pattern !== undefined && isPlain(each)) patterns.push(pattern)
    else return null
  }
  if (patterns.length === 0) return (value) => typeof value === 'string' && value.length >= least
  // One answer repeats its addresses, chains and currencies again and again, and comparing is faster than matching.
  let last: string | null = null
  return (value) => {
    if (value === last && last !== null) return true
    if (typeof value !== 'string' || value.length < least) return false
    for (const pattern of patterns) if (!pattern.test(value)) return false
    last = value
    return true
  }
}

/** A whole number, perhaps of a least size. */
function wholeNumberCheck(schema: Schema): Check | null {
  const { def } = (schema as Any)._zod
  if (!('format' in def) || def.format !== 'safeint') return null
  let least = Number.MIN_SAFE_INTEGER
  for (const { _zod } of def.checks ?? []) {
    const { check, value, inclusive } = _zod.def as AskedOfNumber
    if (check !== 'greater_than' || !Number.isSafeInteger(value)) return null
    least = Math.max(least, inclusive ? value : value + 1)
  }
  return (value) => Number.isSafeInteger(value) && (value as number) >= least
}

/** What zod may ask of a number, as far as it is read here. */
interface AskedOfNumber {
  readonly check: string
  readonly value: number
  readonly inclusive: boolean
}

/** What zod may ask of a text, as far as it is read here. */
interface AskedOfText {
  readonly check: string
  readonly format?: string
  readonly minimum?: number
  readonly pattern?: RegExp
}

/** A format that is its pattern and no more; a pattern with a memory (`g`, `y`) answers by what it saw before. */
function isPlain({ check, format, pattern }: AskedOfText): boolean {
  return (
    check === 'string_format' && (format === 'regex' || format === 'datetime') && !/[gy]/.test(pattern?.flags ?? '')
  )
}
