/**
 * Checks an answer by its schema, and returns its unknown fields and values. Source: docs/interface.md 2, 9.
 *
 * Valid answers pass through plain functions that are compiled once from the schema. zod checks only the others.
 * Figures: `tools/bench/results/retired.json`.
 * @module
 */
import type * as z from 'zod/mini'

/** An unknown field or value: the service is newer than this package. */
export interface UnknownPart {
  /** `field`: a field outside the contract. `value`: an unknown text, such as a new state. */
  readonly kind: 'field' | 'value'
  /** The path from the top of the answer; `*` stands for an index, and the last part is the field itself. */
  readonly path: readonly string[]
  /** The unknown value; null for a field. */
  readonly value: string | null
}

/** An unknown part. Each check of an outer object or list adds its part at the front of the path. */
interface Note extends UnknownPart {
  readonly path: string[]
}

/** True only for a value that zod accepts unchanged. False decides nothing: zod then checks the value. */
type Check = (value: unknown, notes: Note[]) => boolean

type Schema = z.core.$ZodType
type AnySchema = z.core.$ZodTypes

/** A hostile answer must not fill the memory with notes. */
const maxNotes = 1_000

/** Compiles the kinds of schema that this package reads with, and leaves any other kind to zod. */
function compileCheck(schema: Schema): Check {
  const { def } = (schema as AnySchema)._zod
  switch (def.type) {
    case 'object':
      return compileObjectCheck(def.shape, def.catchall !== undefined && def.catchall._zod.def.type === 'unknown')
    case 'array':
      return def.checks?.length ? createZodCheck(schema) : compileArrayCheck(compileCheck(def.element))
    case 'nullable': {
      const inner = compileCheck(def.innerType)
      return (value, notes) => value === null || inner(value, notes)
    }
    case 'union':
      return compileOpenEnumCheck(def.options) ?? createZodCheck(schema)
    case 'string':
      return compileStringCheck(schema) ?? createZodCheck(schema)
    case 'number':
      return compileIntegerCheck(schema) ?? createZodCheck(schema)
    case 'boolean':
      return (value) => typeof value === 'boolean'
    default:
      return createZodCheck(schema)
  }
}

/** Correct for every schema without a transform, but slow. */
function createZodCheck(schema: Schema): Check {
  const { safeParse } = schema as unknown as z.ZodMiniType
  return (value) => safeParse(value).success
}

function compileObjectCheck(shape: Readonly<Record<string, Schema>>, isOpen: boolean): Check {
  const fields = new Map(Object.entries(shape).map(([name, field]) => [name, compileFieldCheck(field)]))
  const requiredCount = [...fields.values()].reduce((sum, { required }) => sum + required, 0)
  return (value, notes) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const object = value as Readonly<Record<string, unknown>>
    let presentRequiredCount = 0
    // One loop over the present fields is much faster than a look-up per known field and a second one for others.
    for (const name in object) {
      const field = fields.get(name)
      if (field !== undefined) {
        const noteCount = notes.length
        if (!field.fits(object[name], notes)) return false
        if (notes.length > noteCount) addPart(notes, noteCount, name)
        presentRequiredCount += field.required
        continue
      }
      if (notes.length < maxNotes) notes.push({ kind: 'field', path: [name], value: null })
      // Assigning this field would change the prototype of a copy; zod removes it.
      if (!isOpen || name === '__proto__') return false
    }
    return presentRequiredCount === requiredCount
  }
}

/** The check of a field. `required` is 1 for a required field and 0 for an optional one, so that a sum counts them. */
function compileFieldCheck(schema: Schema): { readonly fits: Check; readonly required: 0 | 1 } {
  const { def } = (schema as AnySchema)._zod
  return def.type === 'optional'
    ? { fits: compileCheck(def.innerType), required: 0 }
    : { fits: compileCheck(schema), required: 1 }
}

function compileArrayCheck(fits: Check): Check {
  return (value, notes) => {
    if (!Array.isArray(value)) return false
    const arrayStart = notes.length
    let seenKeys: Set<string> | null = null
    for (const element of value) {
      const elementStart = notes.length
      if (!fits(element, notes)) return false
      if (notes.length === elementStart) continue
      seenKeys ??= new Set()
      dropRepeated(notes, elementStart, seenKeys)
    }
    if (notes.length > arrayStart) addPart(notes, arrayStart, '*')
    return true
  }
}

/** Drops notes that an earlier element caused too: repeated notes must not use up the limit. */
function dropRepeated(notes: Note[], start: number, seenKeys: Set<string>): void {
  let keptCount = start
  for (let index = start; index < notes.length; index += 1) {
    const note = notes[index] as Note
    const key = JSON.stringify([note.path, note.value])
    if (seenKeys.has(key)) continue
    seenKeys.add(key)
    notes[keptCount] = note
    keptCount += 1
  }
  notes.length = keptCount
}

function addPart(notes: readonly Note[], start: number, part: string): void {
  for (let index = start; index < notes.length; index += 1) notes[index]?.path.unshift(part)
}

/** Known values or any text: the union that `openEnum` makes. */
function compileOpenEnumCheck(options: readonly Schema[]): Check | null {
  const [knownOption, otherOption, ...more] = options.map((option) => option as AnySchema)
  if (knownOption?._zod.def.type !== 'enum' || otherOption?._zod.def.type !== 'string' || more.length > 0) return null
  const knownValues = new Set<unknown>(Object.values(knownOption._zod.def.entries))
  const fits = compileCheck(otherOption)
  return (value, notes) => {
    if (knownValues.has(value)) return true
    if (!fits(value, notes)) return false
    if (notes.length < maxNotes) notes.push({ kind: 'value', path: [], value: value as string })
    return true
  }
}

/** A string schema with only patterns and a minimum length. */
function compileStringCheck(schema: Schema): Check | null {
  const { def } = (schema as AnySchema)._zod
  const patterns: RegExp[] = []
  let minLength = 0
  // A format, such as an instant, is itself a check.
  const checks = [...('format' in def ? [def] : []), ...(def.checks ?? []).map(({ _zod }) => _zod.def)]
  for (const each of checks as readonly StringCheckDef[]) {
    const { check, minimum, pattern } = each
    if (check === 'min_length' && minimum !== undefined) minLength = Math.max(minLength, minimum)
    else if (pattern !== undefined && isPlain(each)) patterns.push(pattern)
    else return null
  }
  if (patterns.length === 0) return (value) => typeof value === 'string' && value.length >= minLength
  // One answer repeats its addresses, chains and currencies, and comparing is faster than matching.
  let lastMatch: string | null = null
  return (value) => {
    if (value === lastMatch && lastMatch !== null) return true
    if (typeof value !== 'string' || value.length < minLength) return false
    for (const pattern of patterns) if (!pattern.test(value)) return false
    lastMatch = value
    return true
  }
}

/** An integer schema with only minimums. */
function compileIntegerCheck(schema: Schema): Check | null {
  const { def } = (schema as AnySchema)._zod
  if (!('format' in def) || def.format !== 'safeint') return null
  let minimum = Number.MIN_SAFE_INTEGER
  for (const { _zod } of def.checks ?? []) {
    const { check, value, inclusive } = _zod.def as { check: string; value: number; inclusive: boolean }
    if (check !== 'greater_than' || !Number.isSafeInteger(value)) return null
    minimum = Math.max(minimum, inclusive ? value : value + 1)
  }
  return (value) => Number.isSafeInteger(value) && (value as number) >= minimum
}

/** The fields of a string check of zod that are used here. */
interface StringCheckDef {
  readonly check: string
  readonly format?: string
  readonly minimum?: number
  readonly pattern?: RegExp
}

/** Whether the pattern alone checks the format. A pattern with the flag `g` or `y` keeps state between matches. */
function isPlain({ check, format, pattern }: StringCheckDef): boolean {
  return (
    check === 'string_format' && (format === 'regex' || format === 'datetime') && !/[gy]/.test(pattern?.flags ?? '')
  )
}

/** The result of a check. */
export type ReadResult<T> =
  | { readonly success: true; readonly data: T; readonly unknownParts: readonly UnknownPart[] }
  | { readonly success: false; readonly error: z.core.$ZodError }

/** Checks values by one schema. */
export interface SchemaReader<T> {
  /** Never throws. Returns a valid value itself, not a copy. */
  safeParse(value: unknown): ReadResult<T>
}

/**
 * Creates a reader that gives the results of `schema.safeParse`. Create it once per schema, because it compiles the
 * schema. Meant for the reading schemas of this package, which transform no value.
 * @example
 * import { createSchemaReader, pageSchema } from '@payment-integration/contract'
 * const read = createSchemaReader(pageSchema).safeParse(JSON.parse('{"payments":[],"nextCursor":null}'))
 * if (read.success) for (const { kind, path } of read.unknownParts) console.warn(kind, path.join('.'))
 */
export function createSchemaReader<T>(schema: z.ZodMiniType<T>): SchemaReader<T> {
  const fits = compileCheck(schema)
  return {
    safeParse(value) {
      const unknownParts: Note[] = []
      if (fits(value, unknownParts)) return { success: true, data: value as T, unknownParts }
      const parsed = schema.safeParse(value)
      return parsed.success ? { ...parsed, unknownParts } : parsed
    },
  }
}
