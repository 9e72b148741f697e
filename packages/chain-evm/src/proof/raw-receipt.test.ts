import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeReceipt } from '../../test/raw-receipts.js'
import { parseRawReceipt } from './receipts.js'
import { MalformedRlpError } from './rlp.js'

const address = `0x${'ab'.repeat(20)}` as const
const topic = `0x${'cd'.repeat(32)}` as const
const bloom = `0x${'00'.repeat(256)}` as const
const toBytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const encoded = (logs: Parameters<typeof encodeReceipt>[0]['logs'], type: `0x${string}` = '0x2', status = '0x1') =>
  toBytes(encodeReceipt({ type, status: status as '0x1', cumulativeGasUsed: '0x5208', logsBloom: bloom, logs }))

test.each(['0x0', '0x1', '0x2', '0x7e'] as const)('a receipt of type %s has its status and logs', (type) => {
  for (const data of ['0x', '0x07', '0x80', `0x${'ee'.repeat(60)}`, `0x${'ee'.repeat(70_000)}`] as const) {
    const logs = [
      { address, topics: [topic, topic], data },
      { address, topics: [], data },
    ]
    const receipt = parseRawReceipt(encoded(logs, type))
    expect(receipt).toMatchObject({ succeeded: true, addresses: [address, address] })
    expect(receipt.logs()).toEqual(logs)
  }
  expect(parseRawReceipt(encoded([], type, '0x0'))).toMatchObject({ succeeded: false, addresses: [] })
})

test('a receipt with the root of a state in place of a status has none', () => {
  expect(parseRawReceipt(encoded([], '0x0', topic)).succeeded).toBeNull()
})

test('truncated or changed bytes parse or are a MalformedRlpError', () => {
  const whole = encoded([{ address, topics: [topic], data: '0x1234' }])
  const read = (bytes: Buffer) => {
    try {
      parseRawReceipt(bytes).logs()
    } catch (error) {
      expect(error).toBeInstanceOf(MalformedRlpError)
    }
  }
  for (let length = 0; length < whole.length; length += 1) read(whole.subarray(0, length))
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
      const changed = Buffer.from(whole)
      changed[at] = value
      read(changed)
    }),
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => read(Buffer.from(bytes))))
})
