import { expect, test } from 'vitest'
import { createQueue, createQueues } from './queue.js'

test('a queue is empty again after its last job, failed ones included', async () => {
  const queue = createQueue()
  expect(queue.size).toBe(0)
  const good = queue.run(async () => 'done')
  const bad = queue.run(() => Promise.reject(new Error('failed')))
  expect(queue.size).toBe(2)
  expect(await good).toBe('done')
  await expect(bad).rejects.toThrow('failed')
  expect(queue.size).toBe(0)
})

const unwanted = () => expect.unreachable()

test('a job that gave up leaves the line: what waits behind a job without end does not pile up', async () => {
  const queue = createQueue()
  const endless = queue.run(() => new Promise<never>(() => undefined))
  const tired = new Error('tired')
  for (let round = 0; round < 100; round++) await expect(queue.run(unwanted, async () => tired)).rejects.toBe(tired)
  expect(queue.size).toBe(1)
  expect(await Promise.race([endless, 'still running'])).toBe('still running')
})

test('an error of the wait itself comes out, and the job does not run', async () => {
  const queue = createQueue()
  const broken = new Error('no timer')
  const first = queue.run(() => new Promise((resolve) => setImmediate(resolve)))
  await expect(queue.run(unwanted, () => Promise.reject(broken))).rejects.toBe(broken)
  await first
  expect(queue.size).toBe(0)
})

test('a wait that fails because its turn came is forgotten', async () => {
  const queue = createQueue()
  const first = queue.run(async () => 1)
  const aborted = (turn: AbortSignal) =>
    new Promise<Error>((_, reject) => turn.addEventListener('abort', () => reject(turn.reason)))
  expect([await first, await queue.run(async () => 2, aborted)]).toEqual([1, 2])
  const next = [queue.run(async () => 3), queue.run(async () => 4, aborted)]
  expect(await Promise.all(next)).toEqual([3, 4])
})

test('lines of other names do not wait for each other, and a line is forgotten with its last job', async () => {
  const queues = createQueues()
  const order: string[] = []
  let release = () => {}
  const first = queues.run('a', () => new Promise<void>((resolve) => (release = resolve)))
  const second = queues.run('a', async () => void order.push('a'))
  await queues.run('b', async () => void order.push('b'))
  expect([order, queues.size]).toEqual([['b'], 1])
  release()
  await Promise.all([first, second])
  await expect(queues.run('c', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect([order, queues.size]).toEqual([['b', 'a'], 0])
})
