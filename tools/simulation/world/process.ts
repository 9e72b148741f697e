/** A process of the service on the shared store, and the operator who repairs a stopped chain. @module */
import { createEvmChain, type EvmChain } from '@payment-integration/chain-evm'
import { createService, type Service, type ServiceEvent } from '@payment-integration/core'
import { reindex } from '@payment-integration/core/internal'
import type { Clock, Sender, Store } from '@payment-integration/core/ports'
import { fixtures } from '../chain/transaction.js'
import { type Draws, simulatedMasterKey } from '../random.js'
import { controlProcess, createClock, type ProcessControl, wrapStore } from './process-control.js'

/** Parts that all simulated processes share. */
export interface Shared {
  readonly chainId: number
  /** Hosts of the nodes, by preference. */
  readonly hosts: readonly string[]
  readonly store: Store
  readonly sender: Sender
  readonly clock: Clock
  /** The true time, which measures pauses. */
  readonly time: Clock
  readonly finalityBlocks: number
  readonly nearHead: number
  /** Whether deliveries are sent. */
  readonly delivers: boolean
  readonly onEvent: (event: ServiceEvent) => void
  readonly onQuarantine: (txHash: string) => unknown
}

/** A running process. */
export interface SimulatedProcess {
  /** The port of its connections, which identifies it to the network. */
  readonly port: number
  readonly control: ProcessControl
  readonly service: Service
  /** Stops it cleanly. */
  stop(): Promise<void>
}

const pollMs = 1_000
const leaseMs = 5_000
const requestTimeoutMs = 5_000

/** Opens a client of the chain. @param port - Port of its connections, which identifies it to the network. */
function openChain(
  { chainId, hosts, nearHead, clock, onQuarantine }: Shared,
  port: number,
  sizes: { readonly batchSize?: number; readonly maxRange?: number } = {},
): EvmChain {
  return createEvmChain({
    chainId,
    nodes: hosts.map((host) => ({ url: `http://${host}:${port}/` })),
    routers: fixtures.routers,
    nearHead,
    requestTimeoutMs,
    clock,
    onQuarantine: ({ txHash }) => onQuarantine(txHash),
    ...sizes,
  })
}

/** Starts a process. @param onDeath - Called when it is killed. */
export function startProcess(shared: Shared, port: number, draws: Draws, onDeath: () => void): SimulatedProcess {
  const { chainId, sender, finalityBlocks, delivers, onEvent, onQuarantine } = shared
  const control = controlProcess(onDeath)
  const clock = createClock(control, shared.clock, shared.time)
  const store = wrapStore(control, shared.store, shared.time)
  const reportQuarantined = (txHash: string) => control.isAlive && onQuarantine(txHash)
  const sizes = { batchSize: draws.pick([1, 1, 7, 100]), maxRange: draws.pick([1, 5, 2_000]) }
  const chain = openChain({ ...shared, clock, onQuarantine: reportQuarantined }, port, sizes)
  const service = createService({
    store,
    sender: { post: (post) => (control.step() ? sender.post(post) : new Promise(() => {})) },
    masterKey: simulatedMasterKey,
    chains: [{ chain, startBlock: 0, pollMs, leaseMs }],
    confirmations: { [chainId]: finalityBlocks },
    clock,
    random: { fraction: draws.fraction, bytes: (length) => Buffer.from(draws.hex(length).slice(2), 'hex') },
    onEvent: (event) => control.isAlive && onEvent(event),
  })
  const controller = new AbortController()
  const loops = delivers ? [service] : service.indexers
  const running = Promise.all(loops.map((loop) => loop.run(controller.signal)))
  return {
    port,
    control,
    service,
    async stop() {
      controller.abort()
      await running
    },
  }
}

/**
 * Repairs a chain whose message names the repair command.
 * @param message - The error message in the chain's status.
 * @param port - Port of the operator's connections.
 * @returns False when the message names no such command.
 */
export async function repairAsAdvised(message: string, shared: Shared, port: number): Promise<boolean> {
  const from = /reindex --chain \d+ --from (\d+)/.exec(message)?.[1]
  if (from === undefined) return false
  const { store, chainId, finalityBlocks } = shared
  const chain = openChain(shared, port)
  try {
    const deps = { store, chain, publish: () => undefined, confirmations: { [chainId]: finalityBlocks } }
    // The command prints the reports; iterating over them runs the repair.
    for await (const { repaired } of reindex(deps, { from: Number(from), repair: true })) void repaired
    return true
  } finally {
    chain.close()
  }
}
