import { expect, test } from 'vitest'
import { createReceiver } from './create-receiver.js'
import { createMemoryVersionStore } from './memory-version-store.js'
import type { VersionedPayment } from './version-store.js'

const snapshot = { integrationAddress: 'a', chainId: '1', txHash: 'x', version: 1, state: 'pending' }

const verified = async (delivery: typeof snapshot) => ({ snapshot: delivery, secretIndex: 1 })

function setUp(verify = verified) {
  const handled: number[] = []
  const handle = ({ version }: VersionedPayment) => void handled.push(version)
  return { ...createReceiver({ verify, store: createMemoryVersionStore(), handle }), handled }
}

test('verifies, then handles, and answers with the proof and the decision', async () => {
  const log: string[] = []
  const { receive } = createReceiver({
    verify(delivery: typeof snapshot) {
      log.push('verify')
      return verified(delivery)
    },
    store: createMemoryVersionStore(),
    handle: () => void log.push('handle'),
  })
  expect(await receive(snapshot)).toEqual({ snapshot, secretIndex: 1, decision: 'apply' })
  expect(log).toEqual(['verify', 'handle'])
})

test('a delivery that does not verify reaches neither the store nor the handler', async () => {
  const rejection = new Error('forged')
  const { receive, accept, handled } = setUp(() => Promise.reject(rejection))
  await expect(receive(snapshot)).rejects.toBe(rejection)
  expect(handled).toEqual([])
  expect(await accept(snapshot)).toBe('apply')
})

test('a snapshot fetched from the read API goes through the same store and handler', async () => {
  const { receive, accept, handled } = setUp()
  expect(await accept(snapshot)).toBe('apply')
  expect((await receive(snapshot)).decision).toBe('duplicate')
  expect(await accept({ ...snapshot, version: 2 })).toBe('apply')
  expect(handled).toEqual([1, 2])
})

test('a call without options names the first part that is missing', () => {
  expect(() => createReceiver(undefined as never)).toThrow(/^verify is undefined/)
})

test('the handler writes through the transaction of the store', async () => {
  const tx = { name: 'transaction' }
  const seen: unknown[] = []
  const { receive } = createReceiver({
    verify: async (delivery: VersionedPayment) => ({ snapshot: delivery }),
    store: {
      async advance(_: VersionedPayment, effect: (given: typeof tx) => void | Promise<void>) {
        await effect(tx)
        return 'apply'
      },
      current: async () => undefined,
    },
    handle: (_, given) => void seen.push(given),
  })
  await receive(snapshot)
  expect(seen).toEqual([tx])
})

test.each(['verify', 'store', 'handle'])('a receiver without %s is a caller mistake', (part) => {
  const parts = { verify: async () => ({ snapshot }), store: createMemoryVersionStore(), handle: () => undefined }
  expect(() => createReceiver({ ...parts, [part]: undefined })).toThrow(TypeError)
})
