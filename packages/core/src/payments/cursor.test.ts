import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseMasterKey } from '../secrets/keys.js'
import { createCursorCodec } from './cursor.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const codec = createCursorCodec(parseMasterKey(oldKey))
const scope = { integrationAddress: `0x${'1'.repeat(40)}` }
const position = { blockTimestamp: 1_700_000_000_000, chainId: 137, txHash: `0x${'ab'.repeat(32)}`, asOf: 3 }
/** A cursor of these bytes for the integration's list, with the right MAC. */
const signed = (head: Buffer) => {
  const mac = createHmac('sha256', parseMasterKey(oldKey).current.derive('cursor')).update(head)
  const tag = mac.update(`${scope.integrationAddress}|`).digest().subarray(0, 16)
  return Buffer.concat([head, tag]).toString('base64url')
}
const rejected = expect.objectContaining({
  code: 'ERR_CURSOR_INVALID',
  message: 'cursor must be the nextCursor of a page of this list, unchanged',
})

it('a cursor brings every position back', () => {
  fc.assert(
    fc.property(
      fc.record({
        blockTimestamp: fc.integer({ min: 0, max: 2 ** 52 }),
        chainId: fc.integer({ min: 1, max: 2 ** 52 }),
        txHash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((hash) => `0x${Buffer.from(hash).toString('hex')}`),
        asOf: fc.integer({ min: 0, max: 2 ** 52 }),
      }),
      (any) => {
        expect(codec.decode(codec.encode(any, scope), scope)).toEqual(any)
      },
    ),
  )
})

it('a cursor is rejected after any single flipped bit', () => {
  const bytes = Buffer.from(codec.encode(position, scope), 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(() => codec.decode(flipped.toString('base64url'), scope), `bit ${bit}`).toThrow(rejected)
  }
})

it('a cursor is rejected for another integration, another list and another wallet', () => {
  const wallet = `0x${'2'.repeat(40)}`
  const cursor = codec.encode(position, scope)
  const walletCursor = codec.encode(position, { ...scope, wallet })
  expect(() => codec.decode(cursor, { integrationAddress: `0x${'3'.repeat(40)}` })).toThrow(rejected)
  expect(() => codec.decode(cursor, { ...scope, wallet })).toThrow(rejected)
  expect(() => codec.decode(walletCursor, scope)).toThrow(rejected)
  expect(() => codec.decode(walletCursor, { ...scope, wallet: `0x${'4'.repeat(40)}` })).toThrow(rejected)
})

it.each([
  ...['', ' ', 'abc', '='],
  ...[86, 87, 88, 97, 98, 99, 100_000].map((length) => 'a'.repeat(length)),
  ...['../../etc', '\u0000', '٣'],
])('a cursor of %.20j is rejected like every other flaw', (text) =>
  expect(() => codec.decode(text, scope)).toThrow(rejected),
)

it('a cursor has one spelling only: the spare bits of its last character are checked', () => {
  const cursor = codec.encode(position, scope)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(cursor.at(-1) ?? '')
  const accepted = [...alphabet].filter((_, index) => {
    try {
      codec.decode(cursor.slice(0, -1) + alphabet[index], scope)
      return true
    } catch {
      return false
    }
  })
  expect(accepted).toEqual([alphabet[last]])
})

it.each([
  ['another format', Buffer.concat([Buffer.of(1), Buffer.alloc(56, 1)])],
  ['no format', Buffer.alloc(57)],
  ['the format without the count of moves', Buffer.concat([Buffer.of(1), Buffer.alloc(48, 1)])],
  ['a byte more', Buffer.concat([Buffer.of(2), Buffer.alloc(57, 1)])],
])('a cursor of %s is rejected though it was made with the key', (_, head) => {
  expect(() => codec.decode(signed(head), scope)).toThrow(rejected)
})

it('a cursor survives a rotation of the master key while the old key is listed, and ends with it', () => {
  const cursor = codec.encode(position, scope)
  expect(createCursorCodec(parseMasterKey(`${newKey},${oldKey}`)).decode(cursor, scope)).toEqual(position)
  expect(() => createCursorCodec(parseMasterKey(newKey)).decode(cursor, scope)).toThrow(rejected)
})
