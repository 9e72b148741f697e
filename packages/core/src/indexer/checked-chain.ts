/** Checks everything that a chain adapter hands over, before anything of it is stored. @module */
import { CoreError } from '../errors.js'
import type { PaymentFacts, PriceFeedFacts, PricingFacts } from '../payments/payment.js'
import type { BlockRange, BlockRef, BridgeDeposit, Chain, RangesRequest } from '../ports/chain.js'

/** A chain adapter broke the port `Chain`. Nothing of its answer is stored. Only a corrected adapter ends it. */
export class ChainAdapterError extends CoreError {
  override readonly name = 'ChainAdapterError'
  readonly code = 'ERR_CHAIN_ADAPTER'
  readonly retryable = false
  readonly chainId: number
  /** Name of the adapter. */
  readonly adapter: string
  /** The flaw with its place, such as `payments[2].txHash is "5Kd…"; expected 0x and 64 lowercase hex digits`. */
  readonly flaw: string
  constructor(chainId: number, adapter: string, flaw: string) {
    super(`The adapter ${adapter} of chain ${chainId} breaks the port Chain: ${flaw}.`)
    this.chainId = chainId
    this.adapter = adapter
    this.flaw = flaw
  }
}

type Flaw = string | null

/** Characters of a value that a flaw repeats. */
const shownLength = 80

const shapes = {
  hash: [/^0x[0-9a-f]{64}$/, '0x and 64 lowercase hex digits'],
  address: [/^0x[0-9a-f]{40}$/, '0x and 40 lowercase hex digits'],
  digits: [/^[0-9]{1,78}$/, 'decimal digits'],
} as const

function shapeFlaw(place: string, value: unknown, shape: keyof typeof shapes): Flaw {
  const [pattern, expected] = shapes[shape]
  return typeof value === 'string' && pattern.test(value) ? null : formatFlaw(place, value, expected)
}

/** `least` and `most` are allowed. */
function wholeFlaw(place: string, value: unknown, least = 0, most = Number.MAX_SAFE_INTEGER): Flaw {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
  return isWhole ? null : formatFlaw(place, value, `a whole number from ${least}${most < 256 ? ` to ${most}` : ''}`)
}

function amountFlaw(place: string, value: unknown): Flaw {
  const isAmount = typeof value === 'bigint' && value >= 0n && value < 1n << 256n
  return isAmount ? null : formatFlaw(place, value, 'a bigint from 0 below 2^256')
}

function textFlaw(place: string, value: unknown): Flaw {
  return typeof value === 'string' && value !== '' ? null : formatFlaw(place, value, 'a text that is not empty')
}

function objectFlaw(place: string, value: unknown): Flaw {
  return typeof value === 'object' && value !== null ? null : formatFlaw(place, value, 'an object')
}

function listFlaw<T>(place: string, list: readonly T[], check: (place: string, each: T) => Flaw): Flaw {
  if (!Array.isArray(list)) return formatFlaw(place, list, 'a list')
  for (const [index, each] of list.entries()) {
    const at = `${place}[${index}]`
    const flaw = objectFlaw(at, each) ?? check(at, each)
    if (flaw !== null) return flaw
  }
  return null
}

function textOrNullFlaw(place: string, value: unknown): Flaw {
  return value === null || typeof value === 'string' ? null : formatFlaw(place, value, 'a text or null')
}

function formatFlaw(place: string, value: unknown, expected: string): string {
  return `${place} is ${shown(value)}; expected ${expected}`
}

/** The first flaw. Each check runs only while the ones before it found none. */
function firstFlaw(...checks: (() => Flaw)[]): Flaw {
  for (const check of checks) {
    const flaw = check()
    if (flaw !== null) return flaw
  }
  return null
}

function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`.slice(0, shownLength)
  if (typeof value === 'string') {
    const cut = value.length > shownLength ? `${value.slice(0, shownLength)}…` : value
    return JSON.stringify(cut)
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function paymentFlaw(place: string, payment: PaymentFacts, chainId: number): Flaw {
  const { router, source, tokenIn, tokenOut, integrationAddress } = payment
  return firstFlaw(
    () => (payment.chainId === chainId ? null : formatFlaw(`${place}.chainId`, payment.chainId, String(chainId))),
    () => shapeFlaw(`${place}.txHash`, payment.txHash, 'hash'),
    () => shapeFlaw(`${place}.blockHash`, payment.blockHash, 'hash'),
    () => shapeFlaw(`${place}.memoHex`, payment.memoHex, 'hash'),
    () => shapeFlaw(`${place}.source.txHash`, source?.txHash, 'hash'),
    () => wholeFlaw(`${place}.source.chainId`, source?.chainId, 1),
    () => wholeFlaw(`${place}.ordinal`, payment.ordinal),
    () => wholeFlaw(`${place}.logIndex`, payment.logIndex),
    () => wholeFlaw(`${place}.blockNumber`, payment.blockNumber),
    () => wholeFlaw(`${place}.blockTimestamp`, payment.blockTimestamp),
    () => shapeFlaw(`${place}.router.address`, router?.address, 'address'),
    () => textFlaw(`${place}.router.version`, router.version),
    () => shapeFlaw(`${place}.sender`, payment.sender, 'address'),
    () => shapeFlaw(`${place}.receiver`, payment.receiver, 'address'),
    () =>
      integrationAddress === null ? null : shapeFlaw(`${place}.integrationAddress`, integrationAddress, 'address'),
    () => tokenFlaw(`${place}.tokenIn`, tokenIn),
    () => amountFlaw(`${place}.tokenIn.amount`, tokenIn.amount),
    () => tokenFlaw(`${place}.tokenOut`, tokenOut),
    () => amountFlaw(`${place}.tokenOut.gross`, tokenOut.gross),
    () => amountFlaw(`${place}.tokenOut.net`, tokenOut.net),
    () =>
      tokenOut.net <= tokenOut.gross
        ? null
        : formatFlaw(`${place}.tokenOut.net`, tokenOut.net, `at most the gross amount, ${tokenOut.gross}n`),
    () => pricingFlaw(`${place}.pricing`, payment.pricing),
  )
}

/** A deposit of a chain: its payment, and what it promises on another chain. */
function depositFlaw(place: string, deposit: BridgeDeposit, chainId: number): Flaw {
  const { destinationChainId, output } = deposit
  return firstFlaw(
    () => objectFlaw(`${place}.payment`, deposit.payment),
    () => paymentFlaw(`${place}.payment`, deposit.payment, chainId),
    () => textFlaw(`${place}.bridge`, deposit.bridge),
    () => shapeFlaw(`${place}.depositId`, deposit.depositId, 'digits'),
    () => wholeFlaw(`${place}.destinationChainId`, destinationChainId, 1),
    () => shapeFlaw(`${place}.receiver`, deposit.receiver, 'address'),
    () => shapeFlaw(`${place}.output.token`, output?.token, 'address'),
    () => amountFlaw(`${place}.output.amount`, output.amount),
  )
}

/** Tokens with more decimals cannot be shown. */
const maxDecimals = 255

function tokenFlaw(place: string, token: PaymentFacts['tokenIn'] | PaymentFacts['tokenOut']): Flaw {
  return firstFlaw(
    () => shapeFlaw(`${place}.address`, token?.address, 'address'),
    () => textOrNullFlaw(`${place}.symbol`, token.symbol),
    () => wholeFlaw(`${place}.decimals`, token.decimals, 0, maxDecimals),
  )
}

function pricingFlaw(place: string, pricing: PricingFacts): Flaw {
  return firstFlaw(
    () => objectFlaw(place, pricing),
    () => listedTokenFlaw(`${place}.listedToken`, pricing.listedToken),
    () => listFlaw(`${place}.feeds`, pricing.feeds, feedFlaw),
    () => {
      const { length } = pricing.feeds
      return length <= 2 ? null : formatFlaw(`${place}.feeds`, `${length} steps`, 'at most two')
    },
    () => (pricing.calledAmount === null ? null : amountFlaw(`${place}.calledAmount`, pricing.calledAmount)),
    () => (pricing.serviceFee === null ? null : amountFlaw(`${place}.serviceFee`, pricing.serviceFee)),
  )
}

function listedTokenFlaw(place: string, token: PricingFacts['listedToken']): Flaw {
  if (token === null) return null
  return firstFlaw(
    () => textFlaw(`${place}.symbol`, token?.symbol),
    () => textFlaw(`${place}.currency`, token.currency),
  )
}

function feedFlaw(place: string, { use, contract, pair, rate, decimals }: PriceFeedFacts): Flaw {
  return firstFlaw(
    () => (use === 'multiply' || use === 'divide' ? null : formatFlaw(`${place}.use`, use, '"multiply" or "divide"')),
    () => (contract === null ? null : shapeFlaw(`${place}.contract`, contract, 'address')),
    () => (pair === null ? null : textFlaw(`${place}.pair.base`, pair?.base)),
    () => (pair === null ? null : textFlaw(`${place}.pair.quote`, pair.quote)),
    () => wholeFlaw(`${place}.decimals`, decimals, 0, maxDecimals),
    () => (typeof rate === 'bigint' && rate > 0n ? null : formatFlaw(`${place}.rate`, rate, 'a bigint above 0')),
  )
}

const proofs: readonly unknown[] = ['root', 'bloom', 'none']

function blockFlaw(place: string, block: BlockRef): Flaw {
  return firstFlaw(
    () => wholeFlaw(`${place}.number`, block?.number),
    () => shapeFlaw(`${place}.hash`, block.hash, 'hash'),
    () => shapeFlaw(`${place}.parentHash`, block.parentHash, 'hash'),
    () => wholeFlaw(`${place}.timestamp`, block.timestamp),
  )
}

/** The blocks of a range are one branch, and its payments stand in these blocks, in the order of the chain. */
export function rangeFlaw(range: BlockRange, chainId: number): string | null {
  return firstFlaw(
    () => objectFlaw('the range', range),
    () => blockFlaw('first', range.first),
    () => blockFlaw('last', range.last),
    () => (proofs.includes(range.proof) ? null : formatFlaw('proof', range.proof, '"root", "bloom" or "none"')),
    () => (typeof range.node === 'string' ? null : formatFlaw('node', range.node, 'a text')),
    () => branchFlaw(range),
    () => listFlaw('payments', range.payments, (place, payment) => paymentFlaw(place, payment, chainId)),
    () => listFlaw('deposits', range.deposits, (place, deposit) => depositFlaw(place, deposit, chainId)),
    () => orderFlaw('payments', range, range.payments),
    () =>
      orderFlaw(
        'deposits',
        range,
        range.deposits.map(({ payment }) => payment),
      ),
  )
}

function branchFlaw({ first, last, blocks, proof }: BlockRange): Flaw {
  const flaw = listFlaw('blocks', blocks, blockFlaw)
  if (flaw !== null) return flaw
  if (blocks[0]?.hash !== first.hash)
    return formatFlaw('blocks[0].hash', blocks[0]?.hash, `the hash of first, ${first.hash}`)
  if (blocks.at(-1)?.hash !== last.hash) return `the last of blocks is not the block last, ${last.hash}`
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1]
    if (before === undefined) continue
    const place = `blocks[${index}]`
    if (block.number <= before.number) return formatFlaw(`${place}.number`, block.number, `above ${before.number}`)
    const isNext = block.number === before.number + 1
    if (isNext && block.parentHash !== before.hash)
      return formatFlaw(`${place}.parentHash`, block.parentHash, `the hash of the block before, ${before.hash}`)
    if (!isNext && proof !== 'none')
      return formatFlaw(`${place}.number`, block.number, `${before.number + 1}, as proven`)
  }
  return null
}

type Placed = BlockRange['payments'][number]

/** Blocks rise, and within a transaction log indexes and ordinals do. Some chains count log indexes per transaction. */
function orderFlaw(list: string, { first, last, blocks }: BlockRange, placed: readonly Placed[]): Flaw {
  const known = new Map(blocks.map((block) => [block.number, block]))
  const earlierOfHash = new Map<string, Placed>()
  for (const [index, each] of placed.entries()) {
    const [place, before] = [`${list}[${index}]`, placed[index - 1]]
    const { blockNumber, logIndex, ordinal, txHash } = each
    if (blockNumber < first.number || blockNumber > last.number)
      return formatFlaw(`${place}.blockNumber`, blockNumber, `${first.number} to ${last.number}`)
    const block = known.get(blockNumber)
    if (block !== undefined && block.hash !== each.blockHash)
      return formatFlaw(`${place}.blockHash`, each.blockHash, `that of its block, ${block.hash}`)
    if (block !== undefined && block.timestamp !== each.blockTimestamp)
      return formatFlaw(`${place}.blockTimestamp`, each.blockTimestamp, `that of its block, ${block.timestamp}`)
    const earlier = earlierOfHash.get(txHash)
    if ((before?.blockNumber ?? 0) > blockNumber || (earlier?.logIndex ?? -1) >= logIndex)
      return `${place} does not come after the one before it, by block and log index`
    if (earlier !== undefined && ordinal <= earlier.ordinal)
      return formatFlaw(
        `${place}.ordinal`,
        ordinal,
        `above ${earlier.ordinal}, as of an earlier payment of its transaction`,
      )
    earlierOfHash.set(txHash, each)
  }
  return null
}

function fateFlaw(fate: { readonly fate: unknown; readonly blockNumber: unknown } | null): Flaw {
  return firstFlaw(
    () =>
      ['succeeded', 'reverted', 'unknown'].includes(String(fate?.fate))
        ? null
        : formatFlaw('fate', fate?.fate, '"succeeded", "reverted" or "unknown"'),
    () => (fate?.blockNumber === null ? null : wholeFlaw('blockNumber', fate?.blockNumber)),
  )
}

const checked = new WeakMap<Chain, Chain>()

/**
 * Checks hashes, addresses, amounts and order of each answer. A flaw rejects with `ERR_CHAIN_ADAPTER`, which names it.
 */
export function createCheckedChain(chain: Chain): Chain {
  const known = checked.get(chain)
  if (known !== undefined) return known
  const { chainId, adapter = 'without a name' } = chain
  const check = (flaw: Flaw) => {
    if (flaw !== null) throw new ChainAdapterError(chainId, adapter, flaw)
  }
  async function* ranges(request: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    for await (const range of chain.ranges(request, signal)) {
      check(rangeFlaw(range, chainId))
      yield range
    }
  }
  const guarded: Chain = {
    chainId,
    adapter,
    get routers() {
      return chain.routers
    },
    async head(signal) {
      const block = await chain.head(signal)
      check(blockFlaw('head()', block))
      return block
    },
    async block(number, signal) {
      const block = await chain.block(number, signal)
      if (block !== null) check(blockFlaw(`block(${number})`, block))
      return block
    },
    ranges,
    watch: (wake, signal) => chain.watch(wake, signal),
    announcesBlocks: () => chain.announcesBlocks?.() ?? false,
    async transactionFate(txHash, signal) {
      const fate = await chain.transactionFate(txHash, signal)
      check(fateFlaw(fate))
      return fate
    },
    nativeHash: (txHash) => chain.nativeHash?.(txHash) ?? null,
    nodes: () => chain.nodes(),
  }
  checked.set(chain, guarded)
  checked.set(guarded, guarded)
  return guarded
}
