/** Formats and parses a block of the feed. Source: docs/decisions/chain-feed.md. @module */
import { assertModestJson } from '@payment-integration/contract/internal-io'
import { findRangeFlaw } from '@payment-integration/core/internal'
import type { BlockRange, BlockRef, ProofLevel } from '@payment-integration/core/ports'
import { FeedError } from './feed-connection.js'

/** A proven block with its payments, as one message carries it. */
export interface FeedBlock {
  readonly block: BlockRef
  readonly payments: BlockRange['payments']
  readonly deposits: BlockRange['deposits']
  /** Never `none`. */
  readonly proof: ProofLevel
  /** Name of the node that the publisher read. */
  readonly node: string
  /** The routers whose payments were read, lowercased. */
  readonly routers: readonly string[]
  /** The bridge contracts whose deposits were trusted, lowercased. */
  readonly spokePools: readonly string[]
}

/** Version of the format. A reader rejects a block of any other version. */
const version = 1

/** Formats a block: JSON, with amounts as decimal strings. */
export function formatBlock(chainId: number, feedBlock: FeedBlock): Uint8Array {
  const text = JSON.stringify({ v: version, chainId, ...feedBlock }, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  return new TextEncoder().encode(text)
}

/**
 * Parses a message, and checks it like an answer of a chain adapter.
 * @throws FeedError `ERR_FEED_MESSAGE` when it is malformed, unproven, of another chain or of an unknown version.
 */
export function parseBlock(chainId: number, data: Uint8Array): FeedBlock {
  const message = parseJson(data)
  if (message['v'] !== version)
    throw createMessageError(`its version is ${String(message['v'])}; this reader knows ${version}`)
  if (message['chainId'] !== chainId)
    throw createMessageError(`it is of chain ${String(message['chainId'])}, not of ${chainId}`)
  const { block, payments, deposits, proof, node, routers, spokePools } = message as unknown as FeedBlock
  if (!isStringList(routers)) throw createMessageError('it does not name its routers')
  if (!isStringList(spokePools)) throw createMessageError('it does not name its SpokePools')
  if (proof === 'none') throw createMessageError('its block is not proven')
  const feedBlock = { block, payments, deposits, proof, node, routers, spokePools }
  const flaw = findRangeFlaw({ first: block, last: block, blocks: [block], payments, deposits, proof, node }, chainId)
  if (flaw !== null) throw createMessageError(flaw)
  return feedBlock
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function parseJson(data: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    assertModestJson(data)
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data))
    if (isFields(value)) {
      for (const payment of toList(value['payments'])) parsePayment(payment)
      for (const deposit of toList(value['deposits'])) {
        parsePayment(deposit['payment'])
        parseAmounts(deposit['output'], 'amount')
      }
      return value
    }
  } catch {
    // All malformed texts get the same error, which does not show them.
  }
  throw createMessageError('it is not a JSON object')
}

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const toList = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : [])

/** Parses the amounts field by field: a reviver of JSON.parse would take twice as long as all other work. */
function parsePayment(payment: unknown): void {
  if (!isFields(payment)) return
  const { pricing } = payment
  parseAmounts(payment['tokenIn'], 'amount')
  parseAmounts(payment['tokenOut'], 'gross', 'net')
  parseAmounts(pricing, 'calledAmount', 'serviceFee')
  if (isFields(pricing)) for (const feed of toList(pricing['feeds'])) parseAmounts(feed, 'rate')
}

/** Replaces decimal digits by a bigint. Other values stay unchanged, and the check of the block rejects them. */
function parseAmounts(fields: unknown, ...names: readonly string[]): void {
  if (!isFields(fields)) return
  for (const name of names) {
    const value = fields[name]
    if (typeof value === 'string' && /^[0-9]{1,78}$/.test(value)) fields[name] = BigInt(value)
  }
}

function createMessageError(flaw: string): FeedError {
  return new FeedError('ERR_FEED_MESSAGE', `A message of the feed cannot be used: ${flaw}.`)
}
