/** Draws the plan of a seed: forks, faults, kills and pauses. @module */
import { type FaultName, type FaultRates, faultNames, itemFaults, requestFaults } from '../node/fault-names.js'
import type { Draws } from '../random.js'

export interface Plan {
  readonly seed: number
  /** A chain that the service knows to have standard headers, or a chain whose headers it must examine. */
  readonly chainId: number
  /** Steps of the schedule, during which faults happen. */
  readonly steps: number
  /** Blocks mined before the first process starts. */
  readonly historyBlocks: number
  /** Blocks on top of a block until it is final. */
  readonly finalityBlocks: number
  /** Whether the chain forks at all, and whether deeper than finality. */
  readonly forks: 'none' | 'shallow' | 'deep'
  /** Whether block hashes do not follow from the header fields, as on some rollups. */
  readonly hasCustomHashes: boolean
  /** Blocks from the head that are read with receipts. */
  readonly nearHead: number
  readonly nodes: readonly PlannedNode[]
  /** Whether two processes compete for the chain. */
  readonly hasTwoProcesses: boolean
  /** The chance of a kill per step of the schedule. */
  readonly killChance: number
  readonly pauseChance: number
  /** The chance per step that the clock of the service or of the database is set ahead, set back or corrected. */
  readonly clockJumpChance: number
  /** Waits between the steps of the schedule, in milliseconds. */
  readonly waits: readonly number[]
  /** `quick`: no commit is synced, and nothing is delivered. */
  readonly store: 'quick' | 'sqlite'
}

export interface PlannedNode {
  readonly name: string
  readonly rates: FaultRates
  /** Whether it knows `eth_getBlockReceipts`. */
  readonly hasBlockReceipts: boolean
  /** Number of first requests that get another chain's answers, as from a misconfigured node. */
  readonly foreignRequests: number
  /** Longest delay until it sees a change of the chain, in milliseconds. */
  readonly maxDelayMs: number
}

/** The id of Optimism, and the id of a development chain. */
const knownChain = 10
const unknownChain = 31_337
/** Blocks until finality; few, so that a seed drops and restores payments. */
const finalityBlocks = 6

/** Waits that leave time to catch up, and waits that leave almost none. */
const calm = [20, 200, 1_500, 4_000]
const hectic = [5, 20, 60, 150]

/** Draws the plan of a seed. */
export function drawPlan(seed: number, draws: Draws, store: Plan['store']): Plan {
  const count = draws.pick([1, 2, 2, 3])
  const hasCustomHashes = draws.chance(0.2)
  const nodes = Array.from({ length: count }, (_, index): PlannedNode => {
    // The last node is mostly honest: a chain without an honest node cannot be indexed.
    const isHonest = index === count - 1
    return {
      name: `node-${index + 1}.example`,
      rates: drawRates(draws, isHonest ? 0.04 : 0.6, hasCustomHashes),
      hasBlockReceipts: !draws.chance(0.15),
      foreignRequests: !isHonest && draws.chance(0.1) ? draws.whole(1, 30) : 0,
      maxDelayMs: isHonest ? 50 : draws.pick([0, 500, 4_000]),
    }
  })
  return {
    seed,
    chainId: hasCustomHashes ? unknownChain : knownChain,
    steps: draws.whole(6, 18),
    historyBlocks: draws.pick([0, 1, 5, 20]),
    finalityBlocks,
    forks: draws.pick(['none', 'shallow', 'shallow', 'shallow', 'shallow', 'shallow', 'deep'] as const),
    hasCustomHashes,
    nearHead: draws.pick([2, 8, 64]),
    nodes: draws.shuffled(nodes),
    hasTwoProcesses: draws.chance(0.35),
    killChance: draws.pick([0, 0.05, 0.15]),
    pauseChance: draws.pick([0, 0, 0.1]),
    clockJumpChance: draws.fork('clocks').pick([0, 0, 0.1, 0.3]),
    waits: draws.pick([calm, calm, hectic]),
    store,
  }
}

/** Some faults at some rates. Faults of whole requests are rarer: each costs all answers of a batch. */
function drawRates(draws: Draws, maxRate: number, hasCustomHashes: boolean): FaultRates {
  const rates: Partial<Record<FaultName, number>> = {}
  // Where headers cannot be verified, a changed one cannot be detected.
  const names = faultNames.filter((name) => name !== 'header-changed' || !hasCustomHashes)
  for (const name of draws.shuffled(names).slice(0, draws.whole(1, 6))) {
    const share = includesName(requestFaults, name) ? 0.5 : includesName(itemFaults, name) ? 1 : 0.6
    rates[name] = draws.fraction() * maxRate * share
  }
  return rates
}

function includesName(names: readonly FaultName[], name: FaultName): boolean {
  return names.includes(name)
}
