/** Answers that are taken apart in their bytes, against the same answers parsed as a whole. */
import { describe, expect, test } from 'vitest'
import { decodeBytes } from './answer-bytes.js'
import { type ResultReader, skipValue } from './json-bytes.js'
import { decodeAnswer, type RpcCall } from './wire.js'

const plainCall: RpcCall = { method: 'eth_test', params: [] }
class Read {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
const read: ResultReader = (bytes, at) => {
  const end = skipValue(bytes, at)
  return end === -1 ? null : { value: new Read(bytes.toString('utf8', at, end)), end }
}
const readCall: RpcCall = { ...plainCall, read }
const shyCall: RpcCall = { ...plainCall, read: () => null }

const results = [
  null,
  0,
  -1.5e3,
  true,
  '',
  '0x',
  'quotes " and \\ and ü and \u2028',
  [],
  {},
  [[], [{}], '[', ']', '{"', 1],
  { 'a "key" }': { b: ['}', { c: null }] }, d: '\\"' },
]
const item = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result })

describe.each([
  ['in order', (items: unknown[]) => items],
  ['the other way round', (items: unknown[]) => items.toReversed()],
])('a batch that is answered %s', (_, arrange) => {
  const answer = arrange(results.map((result, index) => item(index + 7, result)))

  test.each([undefined, 1, '\t'])('comes to the same as parsed, with white space %j', (space) => {
    const calls = results.map(() => plainCall)
    const outcomes = decodeBytes(Buffer.from(JSON.stringify(answer, null, space)), 7, calls)
    expect(outcomes).toEqual(decodeAnswer(answer, 7, calls.length))
  })

  test('gives each result to the reader of its call, and parses what a reader leaves', () => {
    const calls = results.map((_, index) => [readCall, shyCall, plainCall][index % 3] ?? plainCall)
    const outcomes = decodeBytes(Buffer.from(JSON.stringify(answer)), 7, calls)
    expect(outcomes).toEqual(
      results.map((result, index) => ({
        ok: true,
        result: index % 3 === 0 ? new Read(JSON.stringify(result)) : result,
      })),
    )
  })
})

test('a lone answer belongs to the lone call whatever its number', () => {
  for (const id of [1, 99, undefined])
    expect(decodeBytes(Buffer.from(JSON.stringify(item(id, [1]))), 1, [readCall])).toEqual([
      { ok: true, result: new Read('[1]') },
    ])
})

test('a result in front of its number is parsed', () => {
  const bytes = Buffer.from('[{"result":[1],"id":2},{"result":[2],"id":1}]')
  expect(decodeBytes(bytes, 1, [readCall, readCall])).toEqual([
    { ok: true, result: [2] },
    { ok: true, result: [1] },
  ])
})

test('what was not asked for is passed over, and what is missing is null', () => {
  const bytes = Buffer.from(JSON.stringify([item(9, 'other'), item(2, 'own')]))
  expect(decodeBytes(bytes, 1, [plainCall, plainCall])).toEqual([null, { ok: true, result: 'own' }])
})

test.each([
  ['an error', '[{"id":1,"error":{"code":1,"message":"no"}},{"id":2,"result":1}]'],
  ['an error that is null', '[{"id":1,"error":null,"result":1},{"id":2,"result":1}]'],
  ['an error for the batch', '{"id":1,"error":{"code":1,"message":"no"}}'],
  ['a number as text', '[{"id":"1","result":1},{"id":2,"result":1}]'],
  ['an item that is no object', '[1,{"id":2,"result":1}]'],
  ['something behind the list', '[{"id":1,"result":1},{"id":2,"result":1}] x'],
  ['no key', '[{"id":1,"result":1,},{"id":2,"result":1}]'],
  ['nothing', ''],
])('an answer with %s is left to be parsed as a whole', (_, text) => {
  expect(decodeBytes(Buffer.from(text), 1, [readCall, readCall])).toBeNull()
})

test('an answer that is cut anywhere is left to be parsed as a whole', () => {
  const text = JSON.stringify([item(1, { a: ['"', {}] }), item(2, 'b')])
  for (let length = 0; length < text.length; length++)
    expect(decodeBytes(Buffer.from(text.slice(0, length)), 1, [readCall, readCall]), `${length}`).toBeNull()
})
