/** The endpoints of a simulated deployment, each with its own delay and faults. @module */
import type { Reply } from '../node/calls.js'
import { answerFrom } from '../node/fake-node.js'
import type { FaultName } from '../node/fault-names.js'
import { createFaultyNode } from '../node/faulty-node.js'
import { otherChain } from '../node/other-chain.js'
import type { Draws } from '../random.js'
import type { Nature } from './nature.js'
import type { Plan } from './plan.js'
import type { VirtualTime } from './virtual-time.js'

/** The calling process, by the port of its connections. */
export interface Askers {
  /** Resolves once it is not paused. */
  awake(port: number): Promise<void>
  /** Counts one step. False when it is dead. */
  does(port: number): boolean
}

/** The endpoints. */
export interface Endpoints {
  route(host: string, body: string): Promise<Reply>
  /** Stops all misbehaviour; from now on every endpoint has the true chain. */
  heal(): void
  /** How often each fault happened. */
  faults(): Map<FaultName, number>
}

/** Longest latency of a request, and of its answer, in milliseconds. */
const wayMs = 20
const hang: Reply = { kind: 'hang' }

/** Opens the endpoints of a plan. */
export function openEndpoints(
  plan: Plan,
  draws: Draws,
  chainDriver: Nature,
  time: VirtualTime,
  askers: Askers,
): Endpoints {
  const ways = draws.fork('network')
  const { chain } = chainDriver
  let healed = false
  const nodes = plan.endpoints.map(({ name, rates, maxDelayMs, hasBlockReceipts, startsAsOther }) => {
    const view = { tip: chain.tip }
    const node = createFaultyNode({
      honest: (call) =>
        call.method === 'eth_getBlockReceipts' && !hasBlockReceipts
          ? { error: { code: -32601, message: `the method ${call.method} does not exist` } }
          : answerFrom(chain.chainId, view.tip, call),
      foreign: otherChain,
      draws: draws.fork(name),
      rates,
      startsAsOther,
    })
    return { name, view, node, maxDelayMs }
  })

  chainDriver.onChange(() => {
    const { tip } = chain
    for (const { view, maxDelayMs } of nodes) {
      const delayMs = healed ? 0 : ways.whole(0, maxDelayMs)
      if (delayMs === 0) view.tip = tip
      else
        setTimeout(() => {
          if (!healed) view.tip = tip
        }, delayMs)
    }
  })

  return {
    async route(host, body) {
      const [name, portText] = host.split(':')
      const port = Number(portText)
      const endpoint = nodes.find((each) => each.name === name)
      if (endpoint === undefined || !askers.does(port)) return hang
      await time.sleep(ways.whole(1, wayMs))
      const reply = await endpoint.node.handle(body)
      await time.sleep(ways.whole(1, wayMs))
      await askers.awake(port)
      return askers.does(port) ? reply : hang
    },
    heal() {
      healed = true
      for (const { node, view } of nodes) {
        node.heal()
        view.tip = chain.tip
      }
    },
    faults() {
      const sums = new Map<FaultName, number>()
      for (const { node } of nodes) for (const [name, count] of node.done) sums.set(name, (sums.get(name) ?? 0) + count)
      return sums
    },
  }
}
