import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { ResponseTooLargeError } from './failures.js'
import { createBodyBuffers } from './http-wire.js'

const most = 1_000_000
const body = (...sizes: readonly number[]) => Readable.from(sizes.map((size, index) => Buffer.alloc(size, index + 1)))
const bytes = (...sizes: readonly number[]) => Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, index + 1)))

test('a body is its chunks in order, whatever length was declared', async () => {
  const buffers = createBodyBuffers()
  for (const sizes of [[], [5], [70_000, 3], [65_536], [1, 200_000, 400_000]])
    for (const announced of [0, sizes.reduce((sum, size) => sum + size, 0), 900_000])
      expect((await buffers.readBody(body(...sizes), announced, false, most)).equals(bytes(...sizes))).toBe(true)
})

test('a released buffer contains the next body, and nothing of the last one', async () => {
  const buffers = createBodyBuffers()
  const first = await buffers.readBody(body(100_000), 0, false, most)
  buffers.release(first)
  const second = await buffers.readBody(body(3), 0, false, most)
  expect(second.buffer).toBe(first.buffer)
  expect(second.equals(bytes(3))).toBe(true)
})

test('bodies that are read at the same time do not share a buffer', async () => {
  const buffers = createBodyBuffers()
  buffers.release(await buffers.readBody(body(10), 0, false, most))
  const [one, other] = await Promise.all([
    buffers.readBody(body(7), 0, false, most),
    buffers.readBody(body(5, 6), 0, false, most),
  ])
  expect(one.equals(bytes(7)) && other.equals(bytes(5, 6))).toBe(true)
  expect(one.buffer).not.toBe(other.buffer)
})

test('a too large body is rejected, by its declared length before it is read', async () => {
  const buffers = createBodyBuffers()
  await expect(buffers.readBody(body(60, 41), 0, false, 100)).rejects.toThrow(ResponseTooLargeError)
  await expect(buffers.readBody(body(1), 101, false, 100)).rejects.toThrow(ResponseTooLargeError)
  await expect(buffers.readBody(body(1), 101, true, 100)).rejects.toThrow(ResponseTooLargeError)
  expect((await buffers.readBody(body(100), 100, false, most)).length).toBe(100)
})
