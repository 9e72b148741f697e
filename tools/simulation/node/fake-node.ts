/**
 * An honest node over one branch of the fake chain; like anvil, it drops other branches. Also a node of another chain,
 * which sometimes replaces the honest one.
 * @module
 */
import { encodeAbiParameters, parseAbiParameters, toHex } from 'viem'
import { type FakeBlock, getReceipts, getTransaction } from '../chain/block.js'
import { blockAt, createFakeChain, getBranch } from '../chain/fake-chain.js'
import { drawTransaction, fixtures } from '../chain/transaction.js'
import { createDraws } from '../random.js'
import type { Answer, Call, Outcome } from './calls.js'

/** Metadata of the fake tokens. */
export const tokenFacts = { symbol: 'TOK', decimals: 6 } as const

const echoPrecompile = '0x0000000000000000000000000000000000000004'
const symbolSelector = '0x95d89b41'
const decimalsSelector = '0x313ce567'
/** Distance of the tags from the head, in blocks. */
const safeDepth = 4
const finalizedDepth = 8

interface LogFilter {
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: string
  readonly address?: string | readonly string[]
  readonly topics?: readonly (string | readonly string[] | null)[]
}

/** Answers a call like a node whose head is `tip`. */
export function answerFrom(chainId: number, tip: FakeBlock, { method, params }: Call): Outcome {
  const [first, second] = params
  switch (method) {
    case 'eth_chainId':
      return { result: toHex(chainId) }
    case 'net_version':
      return { result: String(chainId) }
    case 'eth_blockNumber':
      return { result: toHex(tip.number) }
    case 'eth_getBlockByNumber':
      return { result: formatBlock(findBlock(tip, first), second === true) }
    case 'eth_getBlockByHash':
      return { result: formatBlock(findByHash(tip, first), second === true) }
    case 'eth_getBlockReceipts': {
      const block = findBlock(tip, first)
      return { result: block === null ? null : getReceipts(block) }
    }
    case 'eth_getTransactionByHash': {
      const position = findTransaction(tip, first)
      return { result: position === null ? null : getTransaction(position.block, position.index) }
    }
    case 'eth_getTransactionReceipt': {
      const position = findTransaction(tip, first)
      return { result: position === null ? null : getReceipts(position.block)[position.index] }
    }
    case 'eth_getLogs':
      return getLogs(tip, first as LogFilter)
    case 'eth_getCode':
      return { result: fixtures.tokens.some((token) => token === first) ? '0x6001' : '0x' }
    case 'eth_call':
      return callContract(first as { to: string; data: string })
    default:
      return { error: { code: -32601, message: `the method ${method} does not exist` } }
  }
}

/** A block by number, tag, hash, or the object that names one of these. */
function findBlock(tip: FakeBlock, given: unknown): FakeBlock | null {
  if (typeof given === 'object' && given !== null) {
    const { blockHash, blockNumber } = given as { blockHash?: string; blockNumber?: string }
    return blockHash === undefined ? findBlock(tip, blockNumber) : findByHash(tip, blockHash)
  }
  if (given === 'latest' || given === 'pending') return tip
  if (given === 'earliest') return blockAt(tip, 0)
  if (given === 'safe') return blockAt(tip, Math.max(0, tip.number - safeDepth))
  if (given === 'finalized') return blockAt(tip, Math.max(0, tip.number - finalizedDepth))
  if (typeof given === 'string' && given.length === 66) return findByHash(tip, given)
  return blockAt(tip, Number(given))
}

function findByHash(tip: FakeBlock, hash: unknown): FakeBlock | null {
  for (const block of getBranch(tip)) if (block.hash === hash) return block
  return null
}

function findTransaction(tip: FakeBlock, hash: unknown): { readonly block: FakeBlock; readonly index: number } | null {
  for (const block of getBranch(tip)) {
    const index = block.transactions.findIndex((transaction) => transaction.hash === hash)
    if (index >= 0) return { block, index }
  }
  return null
}

function formatBlock(block: FakeBlock | null, isFull: boolean): unknown {
  if (block === null) return null
  const transactions = block.transactions.map(({ hash }, index) => (isFull ? getTransaction(block, index) : hash))
  return { ...block.header, transactions }
}

function getLogs(tip: FakeBlock, filter: LogFilter): Outcome {
  const blocks: FakeBlock[] = []
  if (filter.blockHash !== undefined) {
    const block = findByHash(tip, filter.blockHash)
    if (block === null) return { error: { code: -32000, message: 'unknown block' } }
    blocks.push(block)
  } else {
    const from = findBlock(tip, filter.fromBlock ?? 'latest')?.number ?? tip.number + 1
    const to = filter.toBlock === undefined ? tip.number : (findBlock(tip, filter.toBlock)?.number ?? tip.number)
    for (const block of getBranch(tip)) if (block.number >= from && block.number <= to) blocks.unshift(block)
  }
  const logs = blocks.flatMap((block) => getReceipts(block).flatMap(({ logs: found }) => found as NodeLog[]))
  return { result: logs.filter((log) => matches(log, filter)) }
}

interface NodeLog {
  readonly address: string
  readonly topics: readonly string[]
}

function matches({ address, topics }: NodeLog, filter: LogFilter): boolean {
  if (filter.address !== undefined && ![filter.address].flat().includes(address)) return false
  return (filter.topics ?? []).every((wanted, position) => {
    return wanted === null || [wanted].flat().includes(topics[position] ?? '')
  })
}

function callContract({ to, data }: { readonly to: string; readonly data: string }): Outcome {
  if (to === echoPrecompile) return { result: data }
  if (!fixtures.tokens.some((token) => token === to)) return { result: '0x' }
  if (data === symbolSelector) return { result: encodeAbiParameters(parseAbiParameters('string'), [tokenFacts.symbol]) }
  if (data === decimalsSelector) return { result: toHex(tokenFacts.decimals, { size: 32 }) }
  return { error: { code: 3, message: 'execution reverted' } }
}

const chainId = 5
const blocks = 12
const genesis = 1_700_000_000

const draws = createDraws('another chain')
const chain = createFakeChain(chainId, draws, genesis)
for (let block = 0; block < blocks; block += 1) chain.mine([drawTransaction(draws, block)], genesis + block)

/** Answers like a node of another chain. */
export const otherChain: Answer = (call) => answerFrom(chainId, chain.tip, call)
