/** Simulated chains for a server in development, and the trigger that moves them. @module */
import type { Service } from '@payment-integration/core'
import type { Clock, Store } from '@payment-integration/core/ports'
import { createDraws } from '../builders/draws.js'
import { createTwinChain, type TwinChain } from '../twin/chain.js'
import type { TriggerIdentity } from './context.js'
import { createTrigger, type Trigger } from './create-trigger.js'

/** The parts of a simulation. */
export interface SimulationDeps {
  /** A migrated store. The chains continue after the blocks that it has of them. */
  readonly store: Pick<Store, 'transaction'>
  readonly chainIds: readonly number[]
  readonly clock: Clock
  /** Different at each start, so that no hash repeats: a whole number from 0 to 4294967295. */
  readonly seed: number
  /** @default none: the scenario `kyc` fails */
  readonly identity?: TriggerIdentity | undefined
}

/** Chains to index, and what moves them. */
export interface Simulation {
  readonly chains: readonly TwinChain[]
  trigger(service: Service): Trigger
}

/** Blocks of an earlier process that are remembered: as many as a reorganisation looks for. */
const mostEarlier = 1_000
/** Time between two looks at the service's progress; after 20 s in vain it counts as stuck. */
const lookMs = 20
const mostLooks = 1_000

/** Makes the chains. @throws StoreError When the database does not answer. */
export async function createSimulation(deps: SimulationDeps): Promise<Simulation> {
  const { store, chainIds, clock, seed, identity = null } = deps
  const draws = createDraws(seed)
  const world = { now: () => clock.now(), newHash: () => draws.hex(32) }
  const chains: TwinChain[] = []
  for (const chainId of chainIds) {
    const earlier = await store.transaction((tx) => tx.checkpoints(chainId, Number.MAX_SAFE_INTEGER, mostEarlier))
    chains.push(createTwinChain(chainId, world, earlier))
  }
  return {
    chains,
    trigger: (service) =>
      createTrigger({
        service,
        chains,
        identity,
        draws,
        async progress(turn) {
          await clock.sleep(lookMs)
          return turn < mostLooks
        },
      }),
  }
}
