/** The suites of the ports: chain, sender, identity provider, receipt source, fulfillment source. @module */
import { ChainError } from '@payment-integration/core'
import { createCheckedChain, createCheckedProvider } from '@payment-integration/core/internal'
import type {
  BlockRange,
  BridgeDeposit,
  Chain,
  FulfillmentSource,
  IdentityProvider,
  PostRequest,
  ReceiptSource,
  Sender,
  StoredPayment,
} from '@payment-integration/core/ports'
import { afterAll, afterEach, describe, expect, test } from 'vitest'

/** A chain under test, with the functions by which the suite changes it. */
export interface ChainSubject {
  readonly chain: Chain
  /** Adds one block with this many payments through the chain's first router. */
  mine(payments: number): Promise<void>
  /** Replaces the newest block, which the suite has mined, by another one at its height. @default none: no reorgs */
  replaceNewest?(): Promise<void>
  close(): Promise<void> | void
}

/**
 * Registers the tests of the Chain port with vitest. All of an adapter's tests run on one chain, one after another.
 * @param adapter - Names the tests.
 * @param open - Opens a chain with at least one block; called once.
 * @example
 * import { chainConformance } from '@payment-integration/testing/conformance'
 * import { openMyChain } from './my-chain.js'
 * chainConformance('my-chain', openMyChain)
 */
export function chainConformance(adapter: string, open: () => Promise<ChainSubject>): void {
  const opened = openOnce(open)
  /** The subject with a chain whose answers are also checked for formats and order, as in the service. */
  const subject = async () => {
    const opening = await opened()
    return { ...opening, chain: createCheckedChain(opening.chain) }
  }
  const mineBlocks = async (...paymentCounts: readonly number[]) => {
    const { chain, mine } = await subject()
    const from = (await chain.head()).number + 1
    for (const count of paymentCounts) await mine(count)
    return { from, to: (await chain.head()).number }
  }

  describe(`${adapter}: a chain`, { sequential: true }, () => {
    test('has a head that rises with its blocks, and each block at its height', async () => {
      const { chain } = await subject()
      const before = await chain.head()
      await mineBlocks(0, 0)
      const head = await chain.head()
      expect(head.number).toBeGreaterThanOrEqual(before.number + 2)
      expect(await chain.block(head.number)).toEqual(head)
      expect((await chain.block(head.number - 1))?.hash).toBe(head.parentHash)
      expect(await chain.block(head.number + 1_000_000)).toBeNull()
    })

    test('is read whole, in consecutive ranges that link by parent hash', async () => {
      const { chain } = await subject()
      const { from, to } = await mineBlocks(2, 0, 1, 3)
      const ranges = await collectRanges(chain, from, to)
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
      const { from, to } = await mineBlocks(1, 2, 0, 1)
      const whole = (await collectRanges(chain, from, to)).flatMap(({ payments }) => payments)
      const single: BlockRange[] = []
      for (let number = from; number <= to; number += 1) single.push(...(await collectRanges(chain, number, number)))
      expect(single.flatMap(({ payments }) => payments)).toEqual(whole)
    })

    test('reads only the routers that are asked for', async () => {
      const { chain } = await subject()
      const { from, to } = await mineBlocks(2)
      const [router = ''] = chain.routers
      const read = async (routers: readonly string[]) =>
        (await collectRanges(chain, from, to, routers)).flatMap(({ payments }) => payments)
      expect((await read([router])).map((payment) => payment.router.address)).toEqual([router, router])
      const others = chain.routers.filter((each) => each !== router)
      if (others.length > 0) expect(await read(others)).toEqual([])
    })

    test('rejects a range above its head: an empty answer would lose payments', async () => {
      const { chain } = await subject()
      const above = (await chain.head()).number + 1_000
      await expect(collectRanges(chain, above, above)).rejects.toBeInstanceOf(ChainError)
    })

    test('ends a reading that its reader leaves, and one that is aborted', async () => {
      const { chain } = await subject()
      const { from, to } = await mineBlocks(1, 1)
      for await (const range of chain.ranges({ from, to, head: to })) {
        expect(range.first.number).toBe(from)
        break
      }
      await expect(collectRanges(chain, from, to, undefined, AbortSignal.abort())).rejects.toBeInstanceOf(Error)
    })

    test('knows the fate of a transaction: succeeded in its block, or unknown', async () => {
      const { chain } = await subject()
      const { from, to } = await mineBlocks(1)
      const [payment] = (await collectRanges(chain, from, to)).flatMap(({ payments }) => payments)
      const { txHash = '', blockNumber } = payment ?? {}
      expect(await chain.transactionFate(txHash)).toEqual({ fate: 'succeeded', blockNumber })
      expect(await chain.transactionFate(`0x${'12'.repeat(32)}`)).toEqual({ fate: 'unknown', blockNumber: null })
    })

    test('shows another block at a height after a reorg', async (context) => {
      const { chain, replaceNewest } = await subject()
      if (replaceNewest === undefined) return context.skip(`${adapter} cannot reorganize`)
      await mineBlocks(1)
      const before = await chain.head()
      await replaceNewest()
      // A node may need a moment; the limit only ends a test that hangs.
      const polling = { timeout: 120_000, interval: 20 }
      await expect.poll(async () => (await chain.block(before.number))?.hash, polling).not.toBe(before.hash)
      const [range] = await collectRanges(chain, before.number, before.number)
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

    afterAll(async () => (await opened()).close())
  })
}

async function collectRanges(
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

/** A request as a receiver got it, with header names in lowercase. */
interface ReceivedPost {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

type ReceiverAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang'

/** A sender under test, with receivers that it can reach. */
export interface SenderSubject {
  readonly sender: Sender
  /** Starts a receiver on a real port, and resolves with its URL. */
  receive(answer: (post: ReceivedPost) => ReceiverAnswer): Promise<{ readonly url: string; close(): Promise<void> }>
  close(): Promise<void>
}

const body = new TextEncoder().encode('{"txHash":"0x1","note":"Käse"}')

/**
 * Registers the tests of the Sender port with vitest.
 * @param adapter - Names the tests.
 * @param open - Opens a sender and its receivers; called once.
 */
export function senderConformance(adapter: string, open: () => Promise<SenderSubject>): void {
  const closing: (() => Promise<void>)[] = []
  const subject = openOnce(open)
  async function receive(answer: (post: ReceivedPost) => ReceiverAnswer): Promise<string> {
    const receiver = await (await subject()).receive(answer)
    closing.push(() => receiver.close())
    return receiver.url
  }
  const post = async (url: string, given: Partial<PostRequest> = {}) =>
    (await subject()).sender.post({ url, headers: { 'X-Test': 'yes' }, body, timeoutMs: 60_000, ...given })

  describe(`${adapter}: a sender`, () => {
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })
    afterAll(async () => (await subject()).close())

    test('posts exactly the given bytes and headers', async () => {
      const received: ReceivedPost[] = []
      const url = await receive((each) => {
        received.push(each)
        return { status: 204 }
      })
      expect(await post(url)).toMatchObject({ kind: 'answer', status: 204, retryAfter: null })
      expect(received).toHaveLength(1)
      expect(received[0]).toMatchObject({ method: 'POST', headers: { 'x-test': 'yes' } })
      expect(received[0]?.body).toEqual(body)
    })

    test.each([200, 204, 299, 400, 401, 404, 410, 429, 500, 503])('reports the status %i unchanged', async (status) => {
      const url = await receive(() => ({ status, headers: { 'Retry-After': '17' } }))
      expect(await post(url)).toMatchObject({ kind: 'answer', status, retryAfter: '17' })
    })

    test.each([301, 302, 303, 307, 308])('does not follow %i', async (status) => {
      let followed = 0
      const target = await receive(() => {
        followed += 1
        return { status: 204 }
      })
      const url = await receive(() => ({ status, headers: { Location: target } }))
      expect(await post(url)).toMatchObject({ kind: 'answer', status })
      expect(followed).toBe(0)
    })

    test('cuts the body to an excerpt without control characters', async () => {
      const url = await receive(() => ({ status: 500, body: `a\u0000b\u001b${'x'.repeat(100_000)}` }))
      const result = await post(url)
      const excerpt = result.kind === 'answer' ? (result.excerpt ?? '') : ''
      expect(excerpt.length).toBeLessThanOrEqual(1_024)
      expect(excerpt).toContain('xxxx')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not occur
      expect(excerpt).not.toMatch(/[\u0000\u001b]/)
    })

    test('reports a missing answer as a timeout, and never rejects', async () => {
      const url = await receive(() => 'hang')
      expect(await post(url, { timeoutMs: 50 })).toMatchObject({ kind: 'failure', reason: 'timeout' })
    })

    test('ends a post that is aborted', async () => {
      const stop = new AbortController()
      const url = await receive(() => {
        stop.abort()
        return 'hang'
      })
      expect(await post(url, { signal: stop.signal })).toMatchObject({ kind: 'failure' })
    })

    test('reports a receiver that is gone as a failed connection', async () => {
      const receiver = await (await subject()).receive(() => ({ status: 204 }))
      await receiver.close()
      expect(await post(receiver.url)).toMatchObject({ kind: 'failure', reason: 'connection' })
    })

    test.each(['', 'no URL', 'ftp://127.0.0.1/', 'http://'])('does not reject for the URL %j', async (url) => {
      expect(await post(url)).toMatchObject({ kind: 'failure' })
    })
  })
}

interface RemoteSubject {
  /** Makes the provider, or the system that the source queries, unreachable. */
  cutOff(): Promise<void> | void
  close(): Promise<void> | void
}

/** A provider under test. */
export interface IdentityProviderSubject extends RemoteSubject {
  readonly provider: IdentityProvider
  /** Mints a share token that the provider redeems once. */
  mint(): Promise<string> | string
  /** The clock by which `sendBy` of a redemption is judged, in unix milliseconds. */
  readonly clock: { now(): number }
}

/**
 * Registers the tests of the IdentityProvider port with vitest.
 * @param adapter - Names the tests.
 * @param open - Opens a provider with its control; called once.
 */
export function identityProviderConformance(adapter: string, open: () => Promise<IdentityProviderSubject>): void {
  const opened = openOnce(open)
  const faults: unknown[] = []
  /** The provider as the service uses it: an answer that violates the port is a fault. */
  const subject = async () => {
    const opening = await opened()
    return { ...opening, provider: createCheckedProvider(opening.provider, { error: (fields) => faults.push(fields) }) }
  }
  let names = 0
  const redeem = async (shareToken: string, sendBy?: number) => {
    const { provider, clock } = await subject()
    names += 1
    const externalUserId = `conformance-${names}`
    const result = await provider.redeem({ shareToken, externalUserId, sendBy: sendBy ?? clock.now() + 60_000 })
    return { externalUserId, result }
  }

  describe(`${adapter}: an identity provider`, { sequential: true }, () => {
    afterAll(async () => (await opened()).close())

    test('redeems a token for an applicant that is found by its name, and reviewed by its id', async () => {
      const { provider, mint } = await subject()
      const { externalUserId, result } = await redeem(await mint())
      expect(result).toMatchObject({ kind: 'redeemed' })
      const { applicantId } = result.kind === 'redeemed' ? result.applicant : { applicantId: '' }
      if (provider.findsByName !== false)
        expect(await provider.find(externalUserId)).toMatchObject({ kind: 'answer', value: { applicantId } })
      expect(await provider.review(applicantId)).toMatchObject({ kind: 'answer' })
    })

    test('rejects a token that it does not know, and makes no applicant', async () => {
      const { provider } = await subject()
      const { externalUserId, result } = await redeem('a token that nobody issued')
      expect(result).toMatchObject({ kind: 'rejected', message: expect.any(String) })
      expect(await provider.find(externalUserId)).toEqual({ kind: 'answer', value: null })
    })

    test('knows no applicant of another name or id', async () => {
      const { provider } = await subject()
      expect(await provider.find('nobody')).toEqual({ kind: 'answer', value: null })
      expect(await provider.review('no-such-applicant')).toEqual({ kind: 'answer', value: null })
    })

    test('sends no redemption whose time is over', async () => {
      const { mint, clock } = await subject()
      const token = await mint()
      expect((await redeem(token, clock.now() - 1)).result).toEqual({ kind: 'unsent' })
      expect((await redeem(token)).result).toMatchObject({ kind: 'redeemed' })
    })

    test('never rejects a call: out of reach a redemption is unknown, and a look-up unavailable', async () => {
      const { provider, mint, cutOff } = await subject()
      const token = await mint()
      await cutOff()
      expect((await redeem(token)).result).toMatchObject({ kind: 'unknown' })
      expect(await provider.find('nobody')).toMatchObject({ kind: 'unavailable' })
      expect(await provider.review('no-such-applicant')).toMatchObject({ kind: 'unavailable' })
    })

    test('gave only answers that fit the port', () => {
      expect(faults).toEqual([])
    })
  })
}

/** A receipt source under test. */
export interface ReceiptSourceSubject extends RemoteSubject {
  readonly source: ReceiptSource
  /** A payment with a receipt. */
  readonly settled: StoredPayment
  /** A payment without a receipt. */
  readonly unknown: StoredPayment
}

/**
 * Registers the tests of the ReceiptSource port with vitest.
 * @param adapter - Names the tests.
 * @param open - Opens a source and two payments; called once.
 */
export function receiptSourceConformance(adapter: string, open: () => Promise<ReceiptSourceSubject>): void {
  const subject = openOnce(open)
  describe(`${adapter}: a receipt source`, { sequential: true }, () => {
    afterAll(async () => (await subject()).close())

    test('answers the same update under the same id each time it is asked', async () => {
      const { source, settled } = await subject()
      const [first, second] = [await source.lookup(settled), await source.lookup(settled)]
      expect(first).not.toBeNull()
      expect(first?.id).toMatch(/./)
      expect(second).toEqual(first)
      expect(first).toMatchObject({ chainId: String(settled.chainId), txHash: settled.txHash })
    })

    test('answers null for a payment without a receipt', async () => {
      const { source, unknown } = await subject()
      expect(await source.lookup(unknown)).toBeNull()
    })

    test('rejects with a code that ends in _UNAVAILABLE when it cannot ask', async () => {
      const { source, settled, cutOff } = await subject()
      await cutOff()
      await expect(source.lookup(settled)).rejects.toMatchObject({ code: expect.stringMatching(/_UNAVAILABLE$/) })
    })
  })
}

/** A fulfillment source under test. */
export interface FulfillmentSourceSubject extends RemoteSubject {
  readonly source: FulfillmentSource
  /** A deposit whose fulfillment is final. */
  readonly fulfilled: BridgeDeposit
  /** A deposit without a fulfillment. */
  readonly waiting: BridgeDeposit
}

/**
 * Registers the tests of the FulfillmentSource port with vitest.
 * @param adapter - Names the tests.
 * @param open - Opens a source and two deposits; called once.
 */
export function fulfillmentSourceConformance(adapter: string, open: () => Promise<FulfillmentSourceSubject>): void {
  const subject = openOnce(open)
  describe(`${adapter}: a fulfillment source`, { sequential: true }, () => {
    afterAll(async () => (await subject()).close())

    test('answers the transaction that paid the receiver on the destination chain, each time it is asked', async () => {
      const { source, fulfilled } = await subject()
      const receipt = await source.lookup(fulfilled)
      expect(receipt).toMatchObject({ chainId: fulfilled.destinationChainId, receiver: fulfilled.receiver })
      expect(receipt?.txHash).toMatch(/^0x[0-9a-f]{64}$/)
      expect(receipt?.tokenOut.amount).toBeTypeOf('bigint')
      expect(await source.lookup(fulfilled)).toEqual(receipt)
    })

    test('answers null for a deposit without a fulfillment', async () => {
      const { source, waiting } = await subject()
      expect(await source.lookup(waiting)).toBeNull()
    })

    test('rejects with a ChainError when it cannot answer', async () => {
      const { source, fulfilled, cutOff } = await subject()
      await cutOff()
      await expect(source.lookup(fulfilled)).rejects.toBeInstanceOf(ChainError)
    })
  })
}

function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null
  return () => {
    opened ??= open()
    return opened
  }
}
