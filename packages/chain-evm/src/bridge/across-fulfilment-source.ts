/**
 * The Across bridge as fulfilment source: finds the fill of a deposit on the destination chain, by its event.
 * Source: docs/interface.md 2.1 (source), 8 (finality); docs/decisions/cross-chain.md.
 * @module
 */
import { finality } from '@payment-integration/contract'
import { systemClock } from '@payment-integration/core'
import type { Clock, FulfilmentSource } from '@payment-integration/core/ports'
import { nativeToken } from '../decode/router-decoder.js'
import { createPriceLists, type KnownToken, knownTokens } from '../prices/price-lists.js'
import { createTokenMetadata } from '../prices/token-metadata.js'
import { createNodes, type NodeAddress } from '../rpc/create-nodes.js'
import { chainFailures } from '../rpc/failures.js'
import { toAddress } from '../rpc/hex.js'
import { checkWhole } from '../rpc/options.js'
import { acrossBridge, knownSpokePools } from './deposits.js'
import { createFillReader } from './fills.js'

/** A chain that payments may arrive on. */
export interface AcrossDestination {
  /** Its nodes; at least one. */
  readonly nodes: readonly NodeAddress[]
  /** The bridge's contract there. @default the known one of the chain */
  readonly spokePool?: string | undefined
  /** Blocks on top of a fill until it counts. @default the finality table of docs/interface.md 8; required elsewhere */
  readonly confirmations?: number | undefined
  /** The tokens whose listed symbol and currency are trusted. @default knownTokens of the chain */
  readonly tokens?: readonly KnownToken[] | undefined
}

/** Options of {@link createAcrossFulfilmentSource}. */
export interface AcrossFulfilmentSourceOptions {
  /** By chain id. A deposit to another chain has no answer. */
  readonly chains: ReadonlyMap<number, AcrossDestination>
  /**
   * How long a fill is searched for after a deposit, in ms of block time.
   * @default 86_400_000; the bridge allows 6 hours
   */
  readonly windowMs?: number | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

/** A fulfilment source with connections of its own. */
export interface AcrossFulfilmentSource extends FulfilmentSource {
  /** Ends the connections. */
  close(): void
}

/** Defaults of {@link createAcrossFulfilmentSource}. */
export const acrossFulfilmentSourceDefaults = { windowMs: 86_400_000 } as const

/**
 * Makes the source. A fill counts when the chain's SpokePool emitted it for this origin and deposit, and both events
 * agree. The receiver must have got at least the promised amount, in a transaction whose receipt shows it.
 * The answer is null until the fill is as deep as `confirmations` says, and for deposits of other bridges or to other
 * chains. It stays null when the time to fill is over.
 * @throws {TypeError | RangeError} When an option is wrong; at once, before any request.
 */
export function createAcrossFulfilmentSource(options: AcrossFulfilmentSourceOptions): AcrossFulfilmentSource {
  const { chains, windowMs = acrossFulfilmentSourceDefaults.windowMs, clock = systemClock } = options
  checkWhole('windowMs', windowMs, 1)
  const opened = [...chains].map(([chainId, destination]) => ({
    chainId,
    ...openDestination(chainId, destination, { windowMs, clock }),
  }))
  const readers = new Map(opened.map(({ chainId, reader }) => [chainId, reader]))
  return {
    async lookup(deposit, signal) {
      if (deposit.bridge !== acrossBridge) return null
      return (await readers.get(deposit.destinationChainId)?.lookup(deposit, signal)) ?? null
    },
    close() {
      for (const { nodes } of opened) nodes.close()
    },
  }
}

function openDestination(
  chainId: number,
  destination: AcrossDestination,
  { windowMs, clock }: { readonly windowMs: number; readonly clock: Clock },
) {
  const table: Readonly<Record<number, { readonly confirmations: number }>> = finality
  const confirmations = destination.confirmations ?? table[chainId]?.confirmations
  if (confirmations === undefined)
    throw new RangeError(`Nothing says when a block of chain ${chainId} is final; pass confirmations.`)
  checkWhole(`confirmations of chain ${chainId}`, confirmations, 0)
  const spokePool = toAddress(destination.spokePool ?? knownSpokePools(chainId)[0])
  if (spokePool === null)
    throw new TypeError(`No SpokePool of chain ${chainId} is known; pass its address, 0x and 40 hex digits.`)
  const nodes = createNodes({ chainId, nodes: destination.nodes, clock })
  const fail = chainFailures(chainId)
  const native = nativeToken(chainId, undefined)
  const tokens = createTokenMetadata(chainId, fail, native)
  const lists = createPriceLists(destination.tokens ?? knownTokens(chainId), [], native.symbol)
  const deps = { chainId, nodes, fail, tokens, lists, spokePool, confirmations, windowMs }
  return { nodes, reader: createFillReader(deps) }
}
