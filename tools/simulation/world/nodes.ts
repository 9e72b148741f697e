/** The nodes of a simulated deployment, each with its own delay and faults. @module */
import type { Reply } from '../node/calls.js'
import { answerFrom, otherChain } from '../node/fake-node.js'
import type { FaultName } from '../node/fault-names.js'
import { createFaultyNode } from '../node/faulty-node.js'
import type { Draws } from '../random.js'
import type { ChainDriver } from './chain-driver.js'
import type { Plan } from './plan.js'
import type { VirtualTime } from './virtual-time.js'

/** The processes that send requests. The port of a connection identifies its process. */
export interface Callers {
  /** Resolves when the process is not paused. */
  afterPause(port: number): Promise<void>
  /** Counts one step of the process. False when it is dead. */
  step(port: number): boolean
}

export interface Nodes {
  route(host: string, body: string): Promise<Reply>
  /** Ends all faults; from now on every node has the true chain. */
  heal(): void
  /** How often each fault happened. */
  faults(): Map<FaultName, number>
}

/** Longest latency of a request, and of its answer, in milliseconds. */
const maxLatencyMs = 20
const hang: Reply = { kind: 'hang' }

export function openNodes(
  plan: Plan,
  draws: Draws,
  chainDriver: ChainDriver,
  time: VirtualTime,
  callers: Callers,
): Nodes {
  const latencies = draws.fork('network')
  const { chain } = chainDriver
  let isHealed = false
  const nodes = plan.nodes.map(({ name, rates, maxDelayMs, hasBlockReceipts, foreignRequests }) => {
    const view = { tip: chain.tip }
    const node = createFaultyNode({
      honest: (call) =>
        call.method === 'eth_getBlockReceipts' && !hasBlockReceipts
          ? { error: { code: -32601, message: `the method ${call.method} does not exist` } }
          : answerFrom(chain.chainId, view.tip, call),
      foreign: otherChain,
      draws: draws.fork(name),
      rates,
      foreignRequests,
    })
    return { name, view, node, maxDelayMs }
  })

  chainDriver.onChange(() => {
    const { tip } = chain
    for (const { view, maxDelayMs } of nodes) {
      const delayMs = isHealed ? 0 : latencies.whole(0, maxDelayMs)
      if (delayMs === 0) view.tip = tip
      else
        setTimeout(() => {
          if (!isHealed) view.tip = tip
        }, delayMs)
    }
  })

  return {
    async route(host, body) {
      const [name, portText] = host.split(':')
      const port = Number(portText)
      const node = nodes.find((each) => each.name === name)
      if (node === undefined || !callers.step(port)) return hang
      await time.sleep(latencies.whole(1, maxLatencyMs))
      const reply = await node.node.handle(body)
      await time.sleep(latencies.whole(1, maxLatencyMs))
      await callers.afterPause(port)
      return callers.step(port) ? reply : hang
    },
    heal() {
      isHealed = true
      for (const { node, view } of nodes) {
        node.heal()
        view.tip = chain.tip
      }
    },
    faults() {
      const sums = new Map<FaultName, number>()
      for (const { node } of nodes)
        for (const [name, count] of node.faultCounts) sums.set(name, (sums.get(name) ?? 0) + count)
      return sums
    },
  }
}
