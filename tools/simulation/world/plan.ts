/** Draws the plan of a seed: forks, faults, kills and pauses. @module */
import { type FaultName, type FaultRates, faultNames, itemFaults, requestFaults } from '../node/fault-names.js'
import type { Draws } from '../random.js'

/** The plan of one seed. */
export interface Plan {
  readonly seed: number
  /** A chain that the service knows to have standard headers, or a chain whose headers it must examine. */
  readonly chainId: number
  /** Steps of the schedule, during which faults happen. */
  readonly blocks: number
  /** Blocks mined before the first process starts. */
  readonly history: number
  /** Blocks on top of a block until it is final. */
  readonly finalityBlocks: number
  /** Whether the chain forks at all, and whether deeper than finality. */
  readonly forks: 'none' | 'shallow' | 'deep'
  /** Whether block hashes do not follow from the header fields, as on some rollups. */
  readonly oddHashes: boolean
  /** Blocks from the head that are read with receipts. */
  readonly nearHead: number
  readonly nodes: readonly PlannedNode[]
  /** Whether two processes compete for the chain. */
  readonly competing: boolean
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

/** One node of the plan. */
export interface PlannedNode {
  readonly name: string
  readonly rates: FaultRates
  /** Whether it knows `eth_getBlockReceipts`. */
  readonly hasBlockReceipts: boolean
  /** Number of first requests that get another chain's answers, as from a misconfigured node. */
  readonly startsAsOther: number
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
  const oddHashes = draws.chance(0.2)
  const nodes = Array.from({ length: count }, (_, index): PlannedNode => {
    // The last node is mostly honest: a chain without an honest node cannot be indexed.
    const isHonest = index === count - 1
    return {
      name: `node-${index + 1}.example`,
      rates: drawRates(draws, isHonest ? 0.04 : 0.6, oddHashes),
      hasBlockReceipts: !draws.chance(0.15),
      startsAsOther: !isHonest && draws.chance(0.1) ? draws.whole(1, 30) : 0,
      maxDelayMs: isHonest ? 50 : draws.pick([0, 500, 4_000]),
    }
  })
  return {
    seed,
    chainId: oddHashes ? unknownChain : knownChain,
    blocks: draws.whole(6, 18),
    history: draws.pick([0, 1, 5, 20]),
    finalityBlocks,
    forks: draws.pick(['none', 'shallow', 'shallow', 'shallow', 'shallow', 'shallow', 'deep'] as const),
    oddHashes,
    nearHead: draws.pick([2, 8, 64]),
    nodes: draws.shuffled(nodes),
    competing: draws.chance(0.35),
    killChance: draws.pick([0, 0.05, 0.15]),
    pauseChance: draws.pick([0, 0, 0.1]),
    clockJumpChance: draws.fork('clocks').pick([0, 0, 0.1, 0.3]),
    waits: draws.pick([calm, calm, hectic]),
    store,
  }
}

/** Some faults at some rates. Faults of whole requests are rarer: each costs all answers of a batch. */
function drawRates(draws: Draws, most: number, oddHashes: boolean): FaultRates {
  const rates: Partial<Record<FaultName, number>> = {}
  // Where headers cannot be verified, a changed one cannot be detected.
  const names = faultNames.filter((name) => name !== 'header-changed' || !oddHashes)
  for (const name of draws.shuffled(names).slice(0, draws.whole(1, 6))) {
    const share = isOne(requestFaults, name) ? 0.5 : isOne(itemFaults, name) ? 1 : 0.6
    rates[name] = draws.fraction() * most * share
  }
  return rates
}

function isOne(names: readonly FaultName[], name: FaultName): boolean {
  return names.includes(name)
}
