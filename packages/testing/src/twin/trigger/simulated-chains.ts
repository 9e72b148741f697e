/** Simulated chains for a server in development, and the trigger that moves them. @module */
import type { Service } from '@payment-integration/core'
import type { Chain, Clock, Store } from '@payment-integration/core/ports'
import { createDraws } from '../../builders/draws.js'
import type { TriggerIdentity } from '../../identity-provider/trigger-identity.js'
import { createTwinChain, type TwinChain } from '../chain.js'
import { createTrigger, type Trigger } from './create-trigger.js'

/** The parts of simulated chains. */
export interface SimulatedChainsDeps {
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
export interface SimulatedChains {
  readonly chains: readonly Chain[]
  trigger(service: Service): Trigger
  /** Ends a scenario that waits. Call it before the service stops. */
  close(): void
}

/** Stored blocks of earlier processes that stay known: more than the blocks until a block of any chain is final. */
const mostEarlierBlocks = 2_000
/** Time between two looks at the progress of the service. */
const pollMs = 20
/** Looks in vain until a scenario ends early: 20 s. */
const mostPolls = 1_000

/** Makes the chains. @throws StoreError When the database does not answer. */
export async function createSimulatedChains(deps: SimulatedChainsDeps): Promise<SimulatedChains> {
  const { store, chainIds, clock, seed, identity = null } = deps
  const draws = createDraws(seed)
  // Blocks of one second have the same time, as on a fast chain: no block is ahead of the clock.
  const world = { now: () => clock.now(), newHash: () => draws.hex(32), stepMs: 0 }
  const chains: TwinChain[] = []
  for (const chainId of chainIds) {
    const earlier = await store.transaction((tx) => tx.checkpoints(chainId, Number.MAX_SAFE_INTEGER, mostEarlierBlocks))
    chains.push(createTwinChain(chainId, world, earlier))
  }
  let isClosed = false
  async function progress(turn: number): Promise<boolean> {
    if (!isClosed) await clock.sleep(pollMs)
    return !isClosed && turn < mostPolls
  }
  return {
    chains,
    trigger: (service) => createTrigger({ service, chains, identity, draws, progress }),
    close() {
      isClosed = true
    },
  }
}
