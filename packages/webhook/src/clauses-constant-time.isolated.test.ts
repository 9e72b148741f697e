/** Codes are compared in constant time, on both primitives. Source: docs/interface.md 6, signature rule 5. */
import { createHmac } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { getCode } from '../test/get-code.js'
import { equalInConstantTime } from './internal/hmac.web.js'
import { verifySignature } from './verify-signature.js'

const compared = vi.hoisted(() => ({ says: undefined as boolean | undefined, calls: 0 }))
vi.mock('node:crypto', async (load) => {
  const crypto = await load<typeof import('node:crypto')>()
  return {
    ...crypto,
    timingSafeEqual(a: Uint8Array, b: Uint8Array) {
      compared.calls += 1
      return compared.says ?? crypto.timingSafeEqual(a, b)
    },
  }
})
beforeEach(() => {
  compared.says = undefined
  compared.calls = 0
})

const secret = 'whsec_constant_time'
const t = 1_700_000_000
const verdict = (v1: string) =>
  getCode(verifySignature({ body: 'x', header: `t=${t},v1=${v1}`, secrets: [secret], clock: { now: () => t * 1_000 } }))
const genuine = createHmac('sha256', secret).update(`${t}.x`).digest('hex')
const forged = `${genuine[0] === '0' ? '1' : '0'}${genuine.slice(1)}`

test('on Node timingSafeEqual alone decides: no other comparison lets a code pass or stops it earlier', async () => {
  expect([await verdict(genuine), await verdict(forged)]).toEqual(['ok', 'ERR_SIGNATURE_MISMATCH'])
  expect(compared.calls).toBe(2)
  compared.says = true
  expect(await verdict(forged)).toBe('ok')
  compared.says = false
  expect(await verdict(genuine)).toBe('ERR_SIGNATURE_MISMATCH')
})

test('on Node every byte of a code counts, wherever it differs', async () => {
  for (let index = 0; index < 64; index += 1) {
    const other = genuine[index] === '0' ? '1' : '0'
    const changed = `${genuine.slice(0, index)}${other}${genuine.slice(index + 1)}`
    expect(await verdict(changed), `digit ${index}`).toBe('ERR_SIGNATURE_MISMATCH')
  }
})

test('on Web Crypto every byte of a code counts, wherever it differs', () => {
  const code = Uint8Array.from({ length: 32 }, (_value, index) => index * 7)
  const claimed = Buffer.from(code).toString('hex')
  expect(equalInConstantTime(claimed, code)).toBe(true)
  for (let index = 0; index < 32; index += 1) {
    const other = Uint8Array.from(code)
    other[index] = (other[index] ?? 0) ^ 0x80
    expect(equalInConstantTime(claimed, other), `byte ${index}`).toBe(false)
  }
})

test('on Web Crypto the comparison reads all 32 bytes, also where the first one differs', () => {
  const read = new Set<number>()
  class Watched extends Uint8Array {
    override *entries(): ArrayIterator<[number, number]> {
      for (const entry of super.entries()) {
        read.add(entry[0])
        yield entry
      }
      return undefined
    }
  }
  expect(equalInConstantTime('f'.repeat(64), new Watched(32))).toBe(false)
  expect(read.size).toBe(32)
})
