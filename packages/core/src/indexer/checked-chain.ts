/** Checks every answer of a chain adapter before it is stored. Source: docs/architecture.md. @module */
import { CoreError } from '../errors.js'
import type { PaymentFacts, PriceFeedFacts, PricingFacts } from '../payments/payment.js'
import type { BlockRange, BlockRef, BridgeDeposit, Chain, RangesRequest } from '../ports/chain.js'

/** A chain adapter violates the port `Chain`, and must be corrected. Nothing of the answer is stored. */
export class ChainAdapterError extends CoreError {
  override readonly name = 'ChainAdapterError'
  readonly code = 'ERR_CHAIN_ADAPTER'
  readonly retryable = false
  readonly chainId: number
  /** Name of the adapter. */
  readonly adapter: string
  /** The flaw and its position, such as `payments[2].txHash is "5Kd…"; expected 0x and 64 lowercase hex digits`. */
  readonly flaw: string
  constructor(chainId: number, adapter: string, flaw: string) {
    super(`The adapter ${adapter} of chain ${chainId} breaks the port Chain: ${flaw}.`)
    this.chainId = chainId
    this.adapter = adapter
    this.flaw = flaw
  }
}

type Flaw = string | null

/** The most characters of a value in a message. */
const maxShownLength = 80

const shapes = {
  hash: [/^0x[0-9a-f]{64}$/, '0x and 64 lowercase hex digits'],
  address: [/^0x[0-9a-f]{40}$/, '0x and 40 lowercase hex digits'],
  digits: [/^[0-9]{1,78}$/, 'decimal digits'],
} as const

function findShapeFlaw(place: string, value: unknown, shape: keyof typeof shapes): Flaw {
  const [pattern, expected] = shapes[shape]
  return typeof value === 'string' && pattern.test(value) ? null : formatFlaw(place, value, expected)
}

/** `min` and `max` are included. */
function findIntegerFlaw(place: string, value: unknown, min = 0, max = Number.MAX_SAFE_INTEGER): Flaw {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
  return isWhole ? null : formatFlaw(place, value, `a whole number from ${min}${max < 256 ? ` to ${max}` : ''}`)
}

function findAmountFlaw(place: string, value: unknown): Flaw {
  const isAmount = typeof value === 'bigint' && value >= 0n && value < 1n << 256n
  return isAmount ? null : formatFlaw(place, value, 'a bigint from 0 below 2^256')
}

function findTextFlaw(place: string, value: unknown): Flaw {
  return typeof value === 'string' && value !== '' ? null : formatFlaw(place, value, 'a text that is not empty')
}

function findObjectFlaw(place: string, value: unknown): Flaw {
  return typeof value === 'object' && value !== null ? null : formatFlaw(place, value, 'an object')
}

function findListFlaw<T>(place: string, list: readonly T[], check: (place: string, each: T) => Flaw): Flaw {
  if (!Array.isArray(list)) return formatFlaw(place, list, 'a list')
  for (const [index, each] of list.entries()) {
    const at = `${place}[${index}]`
    const flaw = findObjectFlaw(at, each) ?? check(at, each)
    if (flaw !== null) return flaw
  }
  return null
}

function findNullableTextFlaw(place: string, value: unknown): Flaw {
  return value === null || typeof value === 'string' ? null : formatFlaw(place, value, 'a text or null')
}

function formatFlaw(place: string, value: unknown, expected: string): string {
  return `${place} is ${formatValue(value)}; expected ${expected}`
}

/** Runs the checks until one finds a flaw. */
function findFirstFlaw(...checks: (() => Flaw)[]): Flaw {
  for (const check of checks) {
    const flaw = check()
    if (flaw !== null) return flaw
  }
  return null
}

function formatValue(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`.slice(0, maxShownLength)
  if (typeof value === 'string') {
    const cut = value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value
    return JSON.stringify(cut)
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function findPaymentFlaw(place: string, payment: PaymentFacts, chainId: number): Flaw {
  const { router, source, tokenIn, tokenOut, integrationAddress } = payment
  return findFirstFlaw(
    () => (payment.chainId === chainId ? null : formatFlaw(`${place}.chainId`, payment.chainId, String(chainId))),
    () => findShapeFlaw(`${place}.txHash`, payment.txHash, 'hash'),
    () => findShapeFlaw(`${place}.blockHash`, payment.blockHash, 'hash'),
    () => findShapeFlaw(`${place}.memoHex`, payment.memoHex, 'hash'),
    () => findShapeFlaw(`${place}.source.txHash`, source?.txHash, 'hash'),
    () => findIntegerFlaw(`${place}.source.chainId`, source?.chainId, 1),
    () => findIntegerFlaw(`${place}.ordinal`, payment.ordinal),
    () => findIntegerFlaw(`${place}.logIndex`, payment.logIndex),
    () => findIntegerFlaw(`${place}.blockNumber`, payment.blockNumber),
    () => findIntegerFlaw(`${place}.blockTimestamp`, payment.blockTimestamp),
    () => findShapeFlaw(`${place}.router.address`, router?.address, 'address'),
    () => findTextFlaw(`${place}.router.version`, router.version),
    () => findShapeFlaw(`${place}.sender`, payment.sender, 'address'),
    () => findShapeFlaw(`${place}.receiver`, payment.receiver, 'address'),
    () =>
      integrationAddress === null ? null : findShapeFlaw(`${place}.integrationAddress`, integrationAddress, 'address'),
    () => findTokenFlaw(`${place}.tokenIn`, tokenIn),
    () => findAmountFlaw(`${place}.tokenIn.amount`, tokenIn.amount),
    () => findTokenFlaw(`${place}.tokenOut`, tokenOut),
    () => findAmountFlaw(`${place}.tokenOut.gross`, tokenOut.gross),
    () => findAmountFlaw(`${place}.tokenOut.net`, tokenOut.net),
    () =>
      tokenOut.net <= tokenOut.gross
        ? null
        : formatFlaw(`${place}.tokenOut.net`, tokenOut.net, `at most the gross amount, ${tokenOut.gross}n`),
    () => findPricingFlaw(`${place}.pricing`, payment.pricing),
  )
}

/** Checks the payment of a deposit, and its promise on another chain. */
function findDepositFlaw(place: string, deposit: BridgeDeposit, chainId: number): Flaw {
  const { destinationChainId, output } = deposit
  return findFirstFlaw(
    () => findObjectFlaw(`${place}.payment`, deposit.payment),
    () => findPaymentFlaw(`${place}.payment`, deposit.payment, chainId),
    () => findTextFlaw(`${place}.bridge`, deposit.bridge),
    () => findShapeFlaw(`${place}.depositId`, deposit.depositId, 'digits'),
    () => findIntegerFlaw(`${place}.destinationChainId`, destinationChainId, 1),
    () => findShapeFlaw(`${place}.receiver`, deposit.receiver, 'address'),
    () => findShapeFlaw(`${place}.output.token`, output?.token, 'address'),
    () => findAmountFlaw(`${place}.output.amount`, output.amount),
  )
}

/** `decimals()` returns a uint8. */
const maxDecimals = 255

function findTokenFlaw(place: string, token: PaymentFacts['tokenIn'] | PaymentFacts['tokenOut']): Flaw {
  return findFirstFlaw(
    () => findShapeFlaw(`${place}.address`, token?.address, 'address'),
    () => findNullableTextFlaw(`${place}.symbol`, token.symbol),
    () => findIntegerFlaw(`${place}.decimals`, token.decimals, 0, maxDecimals),
  )
}

function findPricingFlaw(place: string, pricing: PricingFacts): Flaw {
  return findFirstFlaw(
    () => findObjectFlaw(place, pricing),
    () => findListedTokenFlaw(`${place}.listedToken`, pricing.listedToken),
    () => findListFlaw(`${place}.feeds`, pricing.feeds, findFeedFlaw),
    () => {
      const { length } = pricing.feeds
      return length <= 2 ? null : formatFlaw(`${place}.feeds`, `${length} steps`, 'at most two')
    },
    () => (pricing.calledAmount === null ? null : findAmountFlaw(`${place}.calledAmount`, pricing.calledAmount)),
    () => (pricing.serviceFee === null ? null : findAmountFlaw(`${place}.serviceFee`, pricing.serviceFee)),
  )
}

function findListedTokenFlaw(place: string, token: PricingFacts['listedToken']): Flaw {
  if (token === null) return null
  return findFirstFlaw(
    () => findTextFlaw(`${place}.symbol`, token?.symbol),
    () => findTextFlaw(`${place}.currency`, token.currency),
  )
}

function findFeedFlaw(place: string, { use, contract, pair, rate, decimals }: PriceFeedFacts): Flaw {
  return findFirstFlaw(
    () => (use === 'multiply' || use === 'divide' ? null : formatFlaw(`${place}.use`, use, '"multiply" or "divide"')),
    () => (contract === null ? null : findShapeFlaw(`${place}.contract`, contract, 'address')),
    () => (pair === null ? null : findTextFlaw(`${place}.pair.base`, pair?.base)),
    () => (pair === null ? null : findTextFlaw(`${place}.pair.quote`, pair.quote)),
    () => findIntegerFlaw(`${place}.decimals`, decimals, 0, maxDecimals),
    () => (typeof rate === 'bigint' && rate > 0n ? null : formatFlaw(`${place}.rate`, rate, 'a bigint above 0')),
  )
}

const proofs: readonly unknown[] = ['root', 'bloom', 'none']

function findBlockFlaw(place: string, block: BlockRef): Flaw {
  return findFirstFlaw(
    () => findIntegerFlaw(`${place}.number`, block?.number),
    () => findShapeFlaw(`${place}.hash`, block.hash, 'hash'),
    () => findShapeFlaw(`${place}.parentHash`, block.parentHash, 'hash'),
    () => findIntegerFlaw(`${place}.timestamp`, block.timestamp),
  )
}

/** Finds a flaw unless the blocks continue each other, and the payments are in these blocks, in their order. */
export function findRangeFlaw(range: BlockRange, chainId: number): string | null {
  return findFirstFlaw(
    () => findObjectFlaw('the range', range),
    () => findBlockFlaw('first', range.first),
    () => findBlockFlaw('last', range.last),
    () => (proofs.includes(range.proof) ? null : formatFlaw('proof', range.proof, '"root", "bloom" or "none"')),
    () => (typeof range.node === 'string' ? null : formatFlaw('node', range.node, 'a text')),
    () => findBranchFlaw(range),
    () => findListFlaw('payments', range.payments, (place, payment) => findPaymentFlaw(place, payment, chainId)),
    () => findListFlaw('deposits', range.deposits, (place, deposit) => findDepositFlaw(place, deposit, chainId)),
    () => findOrderFlaw('payments', range, range.payments),
    () => findOrderFlaw('deposits', range, range.deposits.map(getPayment)),
  )
}

const getPayment = ({ payment }: BridgeDeposit): PaymentFacts => payment

function findBranchFlaw({ first, last, blocks, proof }: BlockRange): Flaw {
  const flaw = findListFlaw('blocks', blocks, findBlockFlaw)
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

/** Blocks ascend, as do log indexes and ordinals in a transaction. Some chains count log indexes per transaction. */
function findOrderFlaw(list: string, { first, last, blocks }: BlockRange, placed: readonly PaymentFacts[]): Flaw {
  const blockByNumber = new Map(blocks.map((block) => [block.number, block]))
  const earlierOfHash = new Map<string, PaymentFacts>()
  for (const [index, each] of placed.entries()) {
    const [place, before] = [`${list}[${index}]`, placed[index - 1]]
    const { blockNumber, logIndex, ordinal, txHash } = each
    if (blockNumber < first.number || blockNumber > last.number)
      return formatFlaw(`${place}.blockNumber`, blockNumber, `${first.number} to ${last.number}`)
    const block = blockByNumber.get(blockNumber)
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

function findFateFlaw(fate: { readonly fate: unknown; readonly blockNumber: unknown } | null): Flaw {
  return findFirstFlaw(
    () =>
      ['succeeded', 'reverted', 'unknown'].includes(String(fate?.fate))
        ? null
        : formatFlaw('fate', fate?.fate, '"succeeded", "reverted" or "unknown"'),
    () => (fate?.blockNumber === null ? null : findIntegerFlaw('blockNumber', fate?.blockNumber)),
  )
}

const checked = new WeakMap<Chain, Chain>()

/** Checks hashes, addresses, amounts and order of each answer. `ERR_CHAIN_ADAPTER` names a flaw. */
export function createCheckedChain(chain: Chain): Chain {
  const existing = checked.get(chain)
  if (existing !== undefined) return existing
  const { chainId, adapter = 'without a name' } = chain
  const check = (flaw: Flaw) => {
    if (flaw !== null) throw new ChainAdapterError(chainId, adapter, flaw)
  }
  async function* ranges(request: RangesRequest, signal?: AbortSignal): AsyncGenerator<BlockRange> {
    for await (const range of chain.ranges(request, signal)) {
      check(findRangeFlaw(range, chainId))
      yield range
    }
  }
  const checkedChain: Chain = {
    chainId,
    adapter,
    get routers() {
      return chain.routers
    },
    async head(signal) {
      const block = await chain.head(signal)
      check(findBlockFlaw('head()', block))
      return block
    },
    async block(number, signal) {
      const block = await chain.block(number, signal)
      if (block !== null) check(findBlockFlaw(`block(${number})`, block))
      return block
    },
    ranges,
    watch: (wake, signal) => chain.watch(wake, signal),
    announcesBlocks: () => chain.announcesBlocks?.() ?? false,
    async transactionFate(txHash, signal) {
      const fate = await chain.transactionFate(txHash, signal)
      check(findFateFlaw(fate))
      return fate
    },
    nativeHash: (txHash) => chain.nativeHash?.(txHash) ?? null,
    nodes: () => chain.nodes(),
  }
  checked.set(chain, checkedChain)
  checked.set(checkedChain, checkedChain)
  return checkedChain
}
