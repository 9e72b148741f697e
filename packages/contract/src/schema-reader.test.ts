import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { legacyItem as item, payment, shareResponse, snapshot } from '../test/samples.js'
import { openShareResponseSchema } from './identity.js'
import { lookupSchema, verifyResponseSchema } from './legacy.js'
import { pageSchema, paymentSchema } from './payment.js'
import { createSchemaReader } from './schema-reader.js'
import { snapshotSchema, snapshotWriteSchema } from './snapshot.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const numRuns = 3_000

const legacy = (verdict: object) => ({ chainId: 1, txHash: '0x1', payments: [{ ...item, ...verdict }] })
const samples: readonly [string, z.ZodMiniType, object][] = [
  ['payment', paymentSchema, payment],
  ['page', pageSchema, { payments: [payment, { ...payment, state: null }], nextCursor: 'c' }],
  ['snapshot', snapshotSchema, snapshot],
  ['share response', openShareResponseSchema, shareResponse],
  ['lookup', lookupSchema, legacy({ final: true })],
  ['verify', verifyResponseSchema, legacy({ verified: false, verificationErrors: ['x'] })],
  ['snapshot as it is written', snapshotWriteSchema, snapshot],
]

/** Values close to valid ones or to a limit. */
const near = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, undefined, '', 0, 1, -1, 1.5, 2 ** 53, true, [], {}, 'success', 'disputed', '01', '1e3', '1.', '.5'],
  ),
  fc.constantFrom(
    ...['0.0', `0x${'a'.repeat(40)}`, `0x${'A'.repeat(40)}`, `0x${'a'.repeat(64)}\n`, 'EUR', 'eur', '1'.repeat(16)],
  ),
  fc.constantFrom(
    ...['2026-02-30T00:00:00.000Z', '2026-02-28T00:00:00Z', '2024-02-29T23:59:60.000Z', '2026-01-02T03:04:05+00:00'],
  ),
  fc.jsonValue(),
)

/** The paths of all fields, at any depth. */
function getPaths(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [path, ...inner.flatMap(([name, each]) => getPaths(each, [...path, name]))]
}

/** A copy with one change: another value at the path, a field less, or a field more. */
function change(value: unknown, path: readonly (string | number)[], how: 'set' | 'drop' | 'add', to: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return how === 'add' ? { ...(value as object), added: to } : to
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>
  if (rest.length === 0 && how === 'drop') delete copy[first]
  else copy[first] = change(copy[first], rest, how, to)
  return copy
}

test.each(samples)(`a reader and the schema agree on a mutated %s (seed ${seed})`, (_, schema, sample) => {
  const reader = createSchemaReader(schema)
  const paths = getPaths(sample)
  const how = fc.constantFrom<'set' | 'drop' | 'add'>('set', 'drop', 'add')
  const mutation = fc.tuple(fc.constantFrom(...paths), how, near)
  let taken = 0
  fc.assert(
    fc.property(fc.array(mutation, { maxLength: 2 }), (mutations) => {
      const value = mutations.reduce<unknown>((at, [path, how, to]) => {
        try {
          return change(at, path, how, to)
        } catch {
          return at // An earlier change removed this path.
        }
      }, sample)
      const read = reader.safeParse(value)
      const parsed = schema.safeParse(value)
      expect(read.success).toBe(parsed.success)
      if (read.success && parsed.success) expect(read.data).toEqual(parsed.data)
      if (parsed.success) taken += 1
    }),
    { seed, numRuns },
  )
  // The test proves something only if both results occurred often.
  expect(taken).toBeGreaterThan(numRuns / 20)
  expect(taken).toBeLessThan(numRuns)
})

test('a valid value is not copied', () => {
  const read = createSchemaReader(paymentSchema).safeParse(payment)
  expect(read).toMatchObject({ success: true, unknownParts: [] })
  expect(read.success && read.data).toBe(payment)
})

describe('a reader returns as an unknown part', () => {
  const read = (value: unknown) => {
    const found = createSchemaReader(pageSchema).safeParse(value)
    if (!found.success) throw new Error('rejected')
    return found.unknownParts
  }

  test('a field at any depth, with a star for an index', () => {
    const newer = { ...payment, tokenIn: { ...payment.tokenIn, decimals: 6 }, solver: 'x' }
    expect(read({ payments: [payment, newer], nextCursor: null, total: 2 })).toEqual([
      { kind: 'field', path: ['payments', '*', 'tokenIn', 'decimals'], value: null },
      { kind: 'field', path: ['payments', '*', 'solver'], value: null },
      { kind: 'field', path: ['total'], value: null },
    ])
  })

  test('a state, with its value', () => {
    expect(read({ payments: [{ ...payment, state: 'disputed' }], nextCursor: null })).toEqual([
      { kind: 'value', path: ['payments', '*', 'state'], value: 'disputed' },
    ])
  })

  test('a field that would change prototypes, which it removes', () => {
    const hostile: unknown = JSON.parse('{"payments":[],"nextCursor":null,"__proto__":{"state":"success"}}')
    const found = createSchemaReader(pageSchema).safeParse(hostile)
    expect(found).toEqual({
      success: true,
      data: { payments: [], nextCursor: null },
      unknownParts: [{ kind: 'field', path: ['__proto__'], value: null }],
    })
    expect(found.success && Object.hasOwn(found.data as object, '__proto__')).toBe(false)
  })

  test('each of them once, even after many repetitions of others', () => {
    const newer = { ...payment, ...Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`field${n}`, n])) }
    const payments = [...Array.from({ length: 199 }, () => newer), { ...newer, state: 'disputed' }]
    const found = read({ payments, nextCursor: null })
    expect(found).toHaveLength(11)
    expect(found).toContainEqual({ kind: 'value', path: ['payments', '*', 'state'], value: 'disputed' })
  })

  test('each of several fields with hostile names that look alike', () => {
    const alike = [{ 'a","b': 1 }, { a: 1 }, { state: 'a' }, { state: 'b' }].map((more) => ({ ...payment, ...more }))
    expect(read({ payments: alike, nextCursor: null }).map(({ path, value }) => [path.at(-1), value])).toEqual([
      ['a","b', null],
      ['a', null],
      ['state', 'a'],
      ['state', 'b'],
    ])
  })

  test('at most a thousand of them in a hostile answer', () => {
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field${n}`, n]))
    expect(read({ payments: [], nextCursor: null, ...fields })).toHaveLength(1_000)
  })
})

test('a schema of a kind that is not compiled is left to zod', () => {
  const schema = z.object({ at: z.union([z.literal(1), z.string()]), list: z.array(z.string()).check(z.maxLength(1)) })
  const reader = createSchemaReader(schema)
  for (const value of [
    { at: 1, list: ['a'] },
    { at: 'x', list: [] },
    { at: 2, list: [] },
    { at: 1, list: ['a', 'b'] },
    null,
  ])
    expect(reader.safeParse(value).success).toBe(schema.safeParse(value).success)
})
