/** Causes events in a service, for the integration that asks, also on simulated chains. @module */

import type { Service } from '@payment-integration/core'
import type { Chain, Clock, Store } from '@payment-integration/core/ports'
import { createDraws } from '../../builders.js'
import type { TriggerIdentity } from '../../identity-provider/control.js'
import { createTwinChain, type TwinChain } from '../chain.js'
import { parseTriggerRequest, TriggerError, type TriggerEvent, type TriggerRequest } from './request.js'
import { chainOf, scenarios, type TriggerDeps } from './scenarios.js'

/**
 * Checks a request at once, then causes its events one after the other, as they are read.
 * @param request - A {@link TriggerRequest}, such as the JSON of a body.
 * @throws TriggerRequestError `ERR_TRIGGER_INVALID` for an unknown scenario or option, a malformed value, or a chain
 * that is not simulated. The iteration rejects with a TriggerError `ERR_TRIGGER` when the scenario ends early, or while
 * another one runs.
 */
export type Trigger = (
  request: unknown,
  caller: { readonly integrationAddress: string },
) => AsyncGenerator<TriggerEvent, void, undefined>

/** Makes the trigger of a service. It runs one scenario at a time: a reorganisation would replace blocks of another. */
export function createTrigger(deps: TriggerDeps): Trigger {
  let isRunning = false
  return (value, { integrationAddress }) => {
    const request = parseTriggerRequest(value)
    chainOf(deps, request.chainId)
    return run(request, integrationAddress)
  }

  async function* run(request: TriggerRequest, integrationAddress: string): ReturnType<Trigger> {
    if (isRunning) throw new TriggerError('Another trigger is running; try again when it has ended.')
    isRunning = true
    const { scenario } = request
    let [payments, snapshots] = [0, 0]
    try {
      for await (const event of scenarios[scenario]({ ...deps, integrationAddress }, request)) {
        if (event.event === 'block') payments += event.txHashes.length
        if (event.event === 'snapshot') snapshots += 1
        yield event
      }
    } catch (error) {
      throw isCoded(error) ? new TriggerError(error.message, { cause: error }) : error
    } finally {
      isRunning = false
    }
    yield { event: 'done', scenario, payments, snapshots }
  }
}

/** An error of the service that says what is wrong, such as an identity provider that cannot be reached. */
function isCoded(error: unknown): error is Error {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }
  return typeof message === 'string' && String(code).startsWith('ERR_')
}

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
