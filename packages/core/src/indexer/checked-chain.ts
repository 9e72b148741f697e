/** Checks every answer of a chain adapter before it is stored. Source: docs/architecture.md. @module */
import { CodedError } from '../errors.js'
import type { PaymentFacts, PriceFeedFacts, PricingFacts } from '../payments/payment.js'
import type { BlockRange, BlockRef, BridgeDeposit, Chain, TransactionFate } from '../ports/chain.js'

/** A chain adapter violates the port `Chain`, and must be corrected. Nothing of the answer is stored. */
export class ChainAdapterError extends CodedError<'ERR_CHAIN_ADAPTER'> {
  override readonly name = 'ChainAdapterError'
  readonly chainId: number
  readonly adapter: string
  /** The flaw and its position, such as `payments[2].txHash is "5Kd…"; expected 0x and 64 lowercase hex digits`. */
  readonly flaw: string
  constructor(chainId: number, adapter: string, flaw: string) {
    super('ERR_CHAIN_ADAPTER', `The adapter ${adapter} of chain ${chainId} breaks the port Chain: ${flaw}.`)
    this.chainId = chainId
    this.adapter = adapter
    this.flaw = flaw
  }
}

type Flaw = string | null
/** Finds the first flaw of a value, which may have any type at run time. `place` names the value in the message. */
type Rule<T = unknown> = (place: string, value: T) => Flaw

/** The most characters of a value in a message. */
const maxShownLength = 80

const formatFlaw = (place: string, value: unknown, expected: string) =>
  `${place} is ${formatValue(value)}; expected ${expected}`

function formatValue(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`.slice(0, maxShownLength)
  if (typeof value === 'string')
    return JSON.stringify(value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value)
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function expectValue(expected: string, isValid: (value: unknown) => boolean): Rule {
  return (place, value) => (isValid(value) ? null : formatFlaw(place, value, expected))
}

const expectMatch = (pattern: RegExp, expected: string) =>
  expectValue(expected, (value) => typeof value === 'string' && pattern.test(value))

/** `min` and `max` are included. */
function expectWhole(min: number, max = Number.MAX_SAFE_INTEGER): Rule {
  const expected = `a whole number from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}`
  return expectValue(expected, (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max)
}

function allowNull<T>(rule: Rule<T>): Rule<T | null> {
  return (place, value) => (value === null ? null : rule(place, value))
}

/** Checks each field. The flaw of an undefined value names its first field. */
function expectFields<T extends object>(rules: { readonly [Name in keyof T]: Rule<T[Name]> }): Rule<T> {
  return (place, value) => {
    if (value !== undefined && (typeof value !== 'object' || value === null))
      return formatFlaw(place, value, 'an object')
    for (const name in rules) {
      const flaw = rules[name](`${place}.${name}`, value?.[name])
      if (flaw !== null) return flaw
    }
    return null
  }
}

function expectList<T>(rule: Rule<T>): Rule<readonly T[]> {
  return (place, list) => {
    if (!Array.isArray(list)) return formatFlaw(place, list, 'a list')
    for (const [index, each] of list.entries()) {
      const flaw = rule(`${place}[${index}]`, each)
      if (flaw !== null) return flaw
    }
    return null
  }
}

const hash = expectMatch(/^0x[0-9a-f]{64}$/, '0x and 64 lowercase hex digits')
const address = expectMatch(/^0x[0-9a-f]{40}$/, '0x and 40 lowercase hex digits')
const text = expectValue('a text that is not empty', (value) => typeof value === 'string' && value !== '')
const whole = expectWhole(0)
const isAmount = (value: unknown) => typeof value === 'bigint' && value >= 0n && value < 1n << 256n
const amount = expectValue('a bigint from 0 below 2^256', isAmount)

const blockRule = expectFields<BlockRef>({ number: whole, hash, parentHash: hash, timestamp: whole })

// `decimals()` returns a uint8.
const decimals = expectWhole(0, 255)
const symbol = expectValue('a text or null', (value) => value === null || typeof value === 'string')
const tokenRules = { address, symbol, decimals }

const feedRule = expectFields<PriceFeedFacts>({
  use: expectMatch(/^(multiply|divide)$/, '"multiply" or "divide"'),
  contract: allowNull(address),
  pair: allowNull(expectFields<NonNullable<PriceFeedFacts['pair']>>({ base: text, quote: text })),
  decimals,
  rate: expectValue('a bigint above 0', (value) => typeof value === 'bigint' && value > 0n),
})

const tokenOutRule = expectFields<PaymentFacts['tokenOut']>({ ...tokenRules, gross: amount, net: amount })

function findNetFlaw(place: string, { gross, net }: PaymentFacts['tokenOut']): Flaw {
  return net <= gross ? null : formatFlaw(`${place}.net`, net, `at most the gross amount, ${gross}n`)
}

function buildPaymentRule(chainId: number): Rule<PaymentFacts> {
  return expectFields<PaymentFacts>({
    chainId: expectValue(String(chainId), (value) => value === chainId),
    txHash: hash,
    blockHash: hash,
    memoHex: hash,
    source: expectFields<PaymentFacts['source']>({ txHash: hash, chainId: expectWhole(1) }),
    ordinal: whole,
    logIndex: whole,
    blockNumber: whole,
    blockTimestamp: whole,
    router: expectFields<PaymentFacts['router']>({ address, version: text }),
    sender: address,
    receiver: address,
    integrationAddress: allowNull(address),
    tokenIn: expectFields<PaymentFacts['tokenIn']>({ ...tokenRules, amount }),
    tokenOut: (place, tokenOut) => tokenOutRule(place, tokenOut) ?? findNetFlaw(place, tokenOut),
    pricing: expectFields<PricingFacts>({
      listedToken: allowNull(expectFields<NonNullable<PricingFacts['listedToken']>>({ symbol: text, currency: text })),
      feeds: (place, feeds) =>
        expectList(feedRule)(place, feeds) ??
        (feeds.length <= 2 ? null : formatFlaw(place, `${feeds.length} steps`, 'at most two')),
      calledAmount: allowNull(amount),
      serviceFee: allowNull(amount),
    }),
  })
}

function buildDepositRule(chainId: number): Rule<BridgeDeposit> {
  return expectFields<BridgeDeposit>({
    payment: buildPaymentRule(chainId),
    bridge: text,
    depositId: expectMatch(/^[0-9]{1,78}$/, 'decimal digits'),
    destinationChainId: expectWhole(1),
    receiver: address,
    output: expectFields<BridgeDeposit['output']>({ token: address, amount }),
  })
}

const fateRule = expectFields<TransactionFate>({
  fate: expectMatch(/^(succeeded|reverted|unknown)$/, '"succeeded", "reverted" or "unknown"'),
  blockNumber: allowNull(whole),
})

const proofRule = expectMatch(/^(root|bloom|none)$/, '"root", "bloom" or "none"')

const toPayment = ({ payment }: BridgeDeposit) => payment

/** Finds a flaw unless the blocks continue each other, and the payments are in these blocks, in their order. */
export function findRangeFlaw(range: BlockRange, chainId: number): string | null {
  if (typeof range !== 'object' || range === null) return formatFlaw('the range', range, 'an object')
  const { first, last, blocks, payments, deposits, proof, node } = range
  return (
    blockRule('first', first) ??
    blockRule('last', last) ??
    proofRule('proof', proof) ??
    (typeof node === 'string' ? null : formatFlaw('node', node, 'a text')) ??
    expectList(blockRule)('blocks', blocks) ??
    findContinuityFlaw(range) ??
    expectList(buildPaymentRule(chainId))('payments', payments) ??
    expectList(buildDepositRule(chainId))('deposits', deposits) ??
    findOrderFlaw('payments', range, payments) ??
    findOrderFlaw('deposits', range, deposits.map(toPayment))
  )
}

function findContinuityFlaw({ first, last, blocks, proof }: BlockRange): Flaw {
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
function findOrderFlaw(listName: string, { first, last, blocks }: BlockRange, payments: readonly PaymentFacts[]): Flaw {
  const blockByNumber = new Map(blocks.map((block) => [block.number, block]))
  const earlierOfHash = new Map<string, PaymentFacts>()
  for (const [index, each] of payments.entries()) {
    const [place, before] = [`${listName}[${index}]`, payments[index - 1]]
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
      return formatFlaw(`${place}.ordinal`, ordinal, `above ${earlier.ordinal}, the one before it in its transaction`)
    earlierOfHash.set(txHash, each)
  }
  return null
}

/** Checks hashes, addresses, amounts and order of each answer. `ERR_CHAIN_ADAPTER` names a flaw. */
export function createCheckedChain(chain: Chain): Chain {
  const { chainId, adapter = 'without a name' } = chain
  function check<T>(place: string, rule: Rule<T>, answer: T): T {
    const flaw = rule(place, answer)
    if (flaw !== null) throw new ChainAdapterError(chainId, adapter, flaw)
    return answer
  }
  return {
    chainId,
    adapter,
    get routers() {
      return chain.routers
    },
    head: async (signal) => check('head()', blockRule, await chain.head(signal)),
    block: async (number, signal) => check(`block(${number})`, allowNull(blockRule), await chain.block(number, signal)),
    async *ranges(request, signal) {
      const rule: Rule<BlockRange> = (_place, range) => findRangeFlaw(range, chainId)
      for await (const range of chain.ranges(request, signal)) yield check('range', rule, range)
    },
    watch: (wake, signal) => chain.watch(wake, signal),
    announcesBlocks: () => chain.announcesBlocks?.() ?? false,
    transactionFate: async (txHash, signal) =>
      check('transactionFate()', fateRule, await chain.transactionFate(txHash, signal)),
    nativeHash: (txHash) => chain.nativeHash?.(txHash) ?? null,
    nodes: () => chain.nodes(),
  }
}
