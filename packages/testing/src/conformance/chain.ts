/** The suite that every chain adapter passes. Source: the Chain port. @module */

import { ChainError } from '@payment-integration/core'
import { createCheckedChain } from '@payment-integration/core/internal'
import type { BlockRange, Chain } from '@payment-integration/core/ports'
import { afterAll, describe, expect, test } from 'vitest'

/** A chain under test, and how the suite moves it. */
export interface ChainSubject {
  readonly chain: Chain
  /** Adds one block with this many payments through the chain's first router. */
  mine(payments: number): Promise<void>
  /** Replaces the newest block, which the suite has mined, by another one at its height. Absent: no reorganisations. */
  replaceNewest?(): Promise<void>
  close(): Promise<void> | void
}

/**
 * Registers the tests of the Chain port with vitest. All of an adapter's tests run on one chain, one after another.
 * @param adapter - Names the tests.
 * @param open - Opens a chain with at least one block.
 * @example chainConformance('my-chain', async () => ({ chain, mine, close }))
 */
export function chainConformance(adapter: string, open: () => Promise<ChainSubject>): void {
  let opened: Promise<ChainSubject> | null = null
  /** Answers are also checked for their formats and their order, as the service does it. */
  const subject = async () => {
    opened ??= open()
    const given = await opened
    return { ...given, chain: createCheckedChain(given.chain) }
  }
  const mined = async (...payments: readonly number[]) => {
    const { chain, mine } = await subject()
    const from = (await chain.head()).number + 1
    for (const count of payments) await mine(count)
    return { from, to: (await chain.head()).number }
  }

  describe(`${adapter}: a chain`, { sequential: true }, () => {
    test('has a head that rises with its blocks, and each block at its height', async () => {
      const { chain } = await subject()
      const before = await chain.head()
      await mined(0, 0)
      const head = await chain.head()
      expect(head.number).toBeGreaterThanOrEqual(before.number + 2)
      expect(await chain.block(head.number)).toEqual(head)
      expect((await chain.block(head.number - 1))?.hash).toBe(head.parentHash)
      expect(await chain.block(head.number + 1_000_000)).toBeNull()
    })

    test('is read whole, in consecutive ranges on one branch', async () => {
      const { chain } = await subject()
      const { from, to } = await mined(2, 0, 1, 3)
      const ranges = await readAll(chain, from, to)
      expect([ranges[0]?.first.number, ranges.at(-1)?.last.number]).toEqual([from, to])
      for (const [index, range] of ranges.entries()) {
        const before = ranges[index - 1]
        if (before === undefined) continue
        expect(range.first).toMatchObject({ number: before.last.number + 1, parentHash: before.last.hash })
      }
      const payments = ranges.flatMap((range) => range.payments)
      expect(payments).toHaveLength(6)
      expect(payments.every(({ chainId }) => chainId === chain.chainId)).toBe(true)
    })

    test('gives the same payments block by block as in one reading', async () => {
      const { chain } = await subject()
      const { from, to } = await mined(1, 2, 0, 1)
      const whole = (await readAll(chain, from, to)).flatMap(({ payments }) => payments)
      const single: BlockRange[] = []
      for (let number = from; number <= to; number += 1) single.push(...(await readAll(chain, number, number)))
      expect(single.flatMap(({ payments }) => payments)).toEqual(whole)
    })

    test('reads only the routers that are asked for', async () => {
      const { chain } = await subject()
      const { from, to } = await mined(2)
      const [router = ''] = chain.routers
      const read = async (routers: readonly string[]) =>
        (await readAll(chain, from, to, routers)).flatMap(({ payments }) => payments)
      expect((await read([router])).map((payment) => payment.router.address)).toEqual([router, router])
      const others = chain.routers.filter((each) => each !== router)
      if (others.length > 0) expect(await read(others)).toEqual([])
    })

    test('rejects a range above its head: an empty answer would lose payments', async () => {
      const { chain } = await subject()
      const { number } = await chain.head()
      const above = number + 1_000
      await expect(readAll(chain, above, above)).rejects.toBeInstanceOf(ChainError)
    })

    test('ends a reading that its reader leaves, and one that is aborted', async () => {
      const { chain } = await subject()
      const { from, to } = await mined(1, 1)
      for await (const range of chain.ranges({ from, to, head: to })) {
        expect(range.first.number).toBe(from)
        break
      }
      const reason = new Error('the reader stops')
      await expect(readAll(chain, from, to, undefined, AbortSignal.abort(reason))).rejects.toBeInstanceOf(Error)
    })

    test('knows the fate of a transaction: succeeded in its block, or unknown', async () => {
      const { chain } = await subject()
      const { from, to } = await mined(1)
      const [payment] = (await readAll(chain, from, to)).flatMap(({ payments }) => payments)
      const { txHash = '', blockNumber } = payment ?? {}
      expect(await chain.transactionFate(txHash)).toEqual({ fate: 'succeeded', blockNumber })
      const nowhere = `0x${'12'.repeat(32)}`
      expect(await chain.transactionFate(nowhere)).toEqual({ fate: 'unknown', blockNumber: null })
    })

    test('shows another block at a height after a reorganisation', async (context) => {
      const { chain, replaceNewest } = await subject()
      if (replaceNewest === undefined) return context.skip(`${adapter} cannot reorganise`)
      await mined(1)
      const before = await chain.head()
      await replaceNewest()
      await expect.poll(async () => (await chain.block(before.number))?.hash, polling).not.toBe(before.hash)
      const [range] = await readAll(chain, before.number, before.number)
      expect(range?.first).toMatchObject({ number: before.number, parentHash: before.parentHash })
      expect(range?.first.hash).not.toBe(before.hash)
    })

    test('stops watching when its signal aborts', async () => {
      const { chain } = await subject()
      const stop = new AbortController()
      const watching = chain.watch(() => undefined, stop.signal)
      stop.abort()
      expect(await watching).toBeUndefined()
    })

    test('names its nodes without a path, a query or a user, which may hold a key', async () => {
      const { chain } = await subject()
      for (const { name, score } of chain.nodes()) {
        expect(name).not.toMatch(/[/?@]/)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(1)
      }
    })

    afterAll(async () => {
      await (await opened)?.close()
    })
  })
}

/** A node may need a moment. The limit only ends a test that hangs. */
const polling = { timeout: 120_000, interval: 20 }

async function readAll(
  chain: Chain,
  from: number,
  to: number,
  routers?: readonly string[],
  signal?: AbortSignal,
): Promise<BlockRange[]> {
  const ranges: BlockRange[] = []
  for await (const range of chain.ranges({ from, to, head: to, routers }, signal)) ranges.push(range)
  return ranges
}
