/** A chain in memory whose payments, blocks and reorgs a test controls. @module */
import { ChainError } from '@payment-integration/core'
import type {
  BlockRange,
  BlockRef,
  Chain,
  PaymentFacts,
  RangesRequest,
  TokenFacts,
} from '@payment-integration/core/ports'
import type { Draws } from '../builders.js'

/** A payment before its block is known. */
export type UnminedPayment = Omit<PaymentFacts, 'blockNumber' | 'blockHash' | 'blockTimestamp'>

/** A chain that a test controls. */
export interface TwinChain extends Chain {
  /** Appends a block with these payments. */
  mine(payments?: readonly UnminedPayment[]): BlockRef
  /** Removes the newest blocks, but never the first block, and returns their payments, oldest first. */
  orphan(depth: number): UnminedPayment[]
  height(): number
}

/** The figures of a node that answers without calls. */
const counts = { failures: 0, contradictions: 0, failedProofs: 0, calls: 0, receivedBytes: 0, blocks: 0 } as const
const nodeFigures = { ...counts, latencyMs: null, maxRange: 1_000, lastError: null } as const

/** The router of every payment of a twin. */
const twinRouter = { address: `0x${'7b'.repeat(20)}`, version: '0.8' } as const

/**
 * Creates a chain with one block, at height 0 or on top of the earlier blocks.
 * @param world - A clock in unix milliseconds, hashes, and the shortest time between two blocks in milliseconds.
 * @param earlier - Blocks that a service has indexed, newest first. They cannot be orphaned.
 */
export function createTwinChain(
  chainId: number,
  world: { readonly clock: { now(): number }; readonly newHash: () => string; readonly stepMs: number },
  earlier: readonly Pick<PaymentFacts, 'blockNumber' | 'blockHash'>[] = [],
): TwinChain {
  const { clock, newHash, stepMs } = world
  const start = (earlier[0]?.blockNumber ?? -1) + 1
  const earlierHashes = new Map(earlier.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]))
  const blocks: { readonly ref: BlockRef; readonly payments: readonly PaymentFacts[] }[] = []
  const watchers = new Set<() => void>()
  const node = 'simulated'

  function mine(payments: readonly UnminedPayment[] = []): BlockRef {
    const parent = blocks.at(-1)?.ref
    const timestamp = Math.max(Math.floor(clock.now() / 1_000) * 1_000, (parent?.timestamp ?? 0) + stepMs)
    const parentHash = parent?.hash ?? earlier[0]?.blockHash ?? newHash()
    const ref = { number: start + blocks.length, hash: newHash(), parentHash, timestamp }
    const inBlock = { blockNumber: ref.number, blockHash: ref.hash, blockTimestamp: timestamp }
    blocks.push({ ref, payments: payments.map((payment, logIndex) => ({ ...payment, ...inBlock, logIndex })) })
    for (const wake of watchers) wake()
    return ref
  }

  function newest(): BlockRef {
    const block = blocks.at(-1)
    if (block === undefined) throw buildGoneError(0)
    return block.ref
  }

  function buildGoneError(height: number): ChainError {
    return new ChainError('ERR_CHAIN_RANGE_GONE', chainId, `Chain ${chainId} of the twin has no block ${height}.`)
  }

  async function* ranges({ from, to, routers }: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    signal?.throwIfAborted()
    const selectedBlocks = from < start ? [] : blocks.slice(from - start, to + 1 - start)
    const [first, last] = [selectedBlocks[0]?.ref, selectedBlocks.at(-1)?.ref]
    if (first === undefined || last?.number !== to) throw buildGoneError(to)
    const payments = selectedBlocks.flatMap((block) => block.payments)
    const isRead = ({ router }: PaymentFacts) => routers === undefined || routers.includes(router.address)
    const read = { payments: payments.filter(isRead), deposits: [], blocks: selectedBlocks.map(({ ref }) => ref) }
    yield { first, last, ...read, proof: 'root', node }
  }

  mine()
  return {
    chainId,
    adapter: 'twin',
    routers: [twinRouter.address],
    mine,
    orphan: (depth) => blocks.splice(Math.max(1, blocks.length - depth)).flatMap(({ payments }) => payments),
    height: () => newest().number,
    head: async () => newest(),
    async block(number) {
      const hash = earlierHashes.get(number)
      if (hash !== undefined) return { number, hash, parentHash: hash, timestamp: 0 }
      return blocks[number - start]?.ref ?? null
    },
    ranges,
    watch: (wake, signal) =>
      new Promise((resolve) => {
        watchers.add(wake)
        const stop = () => {
          watchers.delete(wake)
          resolve()
        }
        signal.addEventListener('abort', stop, { once: true })
        if (signal.aborted) stop()
      }),
    async transactionFate(txHash) {
      const block = blocks.find(({ payments }) => payments.some((payment) => payment.txHash === txHash))
      return { fate: block === undefined ? 'unknown' : 'succeeded', blockNumber: block?.ref.number ?? null }
    },
    nodes: () => [{ name: node, score: 1, inUse: true, head: newest().number, ...nodeFigures }],
  }
}

/** A payment to make. Every field except the integration has a default. */
export interface TwinPaymentInput {
  /** The integration that the payment names; null: none. */
  readonly integrationAddress: string | null
  /** Chain of the twin. @default 137 */
  readonly chainId?: number | undefined
  /** The transaction hash, to use one hash on several chains. @default drawn */
  readonly txHash?: string | undefined
  /** Amount in token units, such as `12.50`. @default drawn */
  readonly amount?: string | undefined
  /** Symbol of the token. @default USDC */
  readonly token?: string | undefined
  /** Decimals of the token, 0 to 30. @default 6 */
  readonly decimals?: number | undefined
  /** At most 32 bytes of UTF-8. @default drawn */
  readonly memo?: string | undefined
  readonly sender?: string | undefined
  readonly receiver?: string | undefined
  /** The source of a payment from another chain. @default the same transaction */
  readonly source?: { readonly chainId: number; readonly txHash: string } | undefined
}

/** The most characters of a symbol that the service reads from a chain. */
const maxSymbolLength = 64

const paymentFields = new Set(
  'integrationAddress chainId txHash amount token decimals memo sender receiver source'.split(' '),
)

/** Builds a payment; draws absent fields. @throws {TypeError} For an unknown field; {RangeError} for a bad value. */
export function buildPayment(input: TwinPaymentInput, draws: Draws): UnminedPayment {
  for (const name of Object.keys(input))
    if (!paymentFields.has(name))
      throw new TypeError(`${name} is no field of a payment; there are ${[...paymentFields].join(', ')}.`)
  const drawn = {
    txHash: draws.hex(32),
    sender: draws.hex(20),
    receiver: draws.hex(20),
    amount: `${draws.integer(1, 500)}.${draws.integer(10, 99)}`,
    memo: `order-${draws.integer(1_000, 9_999)}`,
  }
  const { chainId = 137, token: symbol = 'USDC', decimals = 6 } = input
  const txHash = parseHex('txHash', 32, input.txHash ?? drawn.txHash)
  const units = toUnits(input.amount ?? drawn.amount, decimals)
  const { length } = [...symbol]
  if (length > maxSymbolLength) throw new RangeError(`token has ${length} characters; pass at most ${maxSymbolLength}.`)
  const token: TokenFacts = { address: `0x${'70'.repeat(20)}`, symbol, decimals }
  const { integrationAddress } = input
  return {
    chainId,
    txHash,
    ordinal: 0,
    logIndex: 0,
    router: twinRouter,
    sender: parseHex('sender', 20, input.sender ?? drawn.sender),
    receiver: parseHex('receiver', 20, input.receiver ?? drawn.receiver),
    memoHex: toMemoHex(input.memo ?? drawn.memo),
    integrationAddress: integrationAddress === null ? null : parseHex('integrationAddress', 20, integrationAddress),
    source: toSource(input.source ?? { chainId, txHash }),
    tokenIn: { ...token, amount: units },
    tokenOut: { ...token, gross: units, net: units },
    pricing: { listedToken: { symbol, currency: 'USD' }, feeds: [], calledAmount: null, serviceFee: null },
  }
}

const formats = { 20: /^0x[0-9a-fA-F]{40}$/, 32: /^0x[0-9a-fA-F]{64}$/ } as const

function parseHex(name: string, bytes: keyof typeof formats, value: string): string {
  if (formats[bytes].test(value)) return value.toLowerCase()
  throw new RangeError(`${name} is malformed; pass 0x and ${2 * bytes} hex digits.`)
}

function toMemoHex(memo: string): string {
  const bytes = Buffer.from(memo, 'utf8')
  if (bytes.length > 32) throw new RangeError(`memo has ${bytes.length} bytes; at most 32 fit into a payment.`)
  return `0x${bytes.toString('hex').padEnd(64, '0')}`
}

function toSource({ chainId, txHash }: NonNullable<TwinPaymentInput['source']>) {
  if (!Number.isSafeInteger(chainId) || chainId < 1)
    throw new RangeError(`source.chainId is ${chainId}; pass a whole number, 1 or more.`)
  return { chainId, txHash: parseHex('source.txHash', 32, txHash) }
}

/** Converts a decimal to base units without rounding. */
function toUnits(amount: string, decimals: number): bigint {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 30)
    throw new RangeError(`decimals is ${decimals}; pass a whole number from 0 to 30.`)
  const [, whole = '', fraction = ''] = /^(0|[1-9]\d{0,29})(?:[.](\d{1,30}))?$/.exec(amount) ?? []
  if (whole === '') throw new RangeError('amount is malformed; pass a decimal such as 12.50.')
  if (fraction.length > decimals)
    throw new RangeError(`amount has ${fraction.length} decimals; the token has ${decimals}.`)
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}
