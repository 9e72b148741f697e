/** Nodes, a clock and endpoints over them, for the tests of how work is shared out. @module */
import { createEndpoints, type EndpointsOptions } from '../src/rpc/create-endpoints.js'
import { type Endpoint, type Endpoints, isRateLimit } from '../src/rpc/endpoints.js'
import { type ManualClock, manualClock } from './manual-clock.js'
import { always, type ScriptedNode, scriptedNode } from './scripted-node.js'

/** Differs from every wait, so that it can be told from one. */
const requestTimeoutMs = 60_000

export const headCall = { method: 'eth_blockNumber', params: [] }
export const down = always(502, '<html>')

export async function readHead(endpoint: Endpoint) {
  const number = Number(await endpoint.rpc.call(headCall))
  endpoint.note({ kind: 'head', number })
  return { name: endpoint.name, number }
}

/** Reads a range as far as the endpoint's size goes. */
export async function readRange(endpoint: Endpoint) {
  const blocks = endpoint.maxRange()
  try {
    await endpoint.rpc.call({ method: 'eth_getLogs', params: [blocks] })
    endpoint.note({ kind: 'range-read', blocks })
  } catch (error) {
    endpoint.note({ kind: 'range-failed', blocks, rateLimited: isRateLimit(error) })
    throw error
  }
  return { name: endpoint.name, blocks }
}

export const used = async (endpoints: Endpoints) => (await endpoints.pinned(readHead)).name.slice(-2)

export interface EndpointNodes {
  readonly nodes: readonly ScriptedNode[]
  readonly clock: ManualClock
  nodeAt(index: number): ScriptedNode
  /** Over all nodes, unless told otherwise. */
  open(options?: Partial<EndpointsOptions>): Endpoints
  /** Over the first node. */
  alone(): Endpoints
  /** Lets time pass in steps of five seconds, with work in each; resolves which endpoint was used in each. */
  workFor(endpoints: Endpoints, ms: number): Promise<string[]>
  /** Waits until nothing is asked and work waits for a pause to end; resolves how long it is, in milliseconds. */
  paused(): Promise<number>
  close(): Promise<void>
}

export async function endpointNodes(): Promise<EndpointNodes> {
  const nodes = await Promise.all([scriptedNode(), scriptedNode()])
  const clock = manualClock()
  const opened: Endpoints[] = []
  const nodeAt = (index: number): ScriptedNode => {
    const node = nodes[index]
    if (node === undefined) throw new Error(`There is no node ${index}.`)
    return node
  }
  function open(options: Partial<EndpointsOptions> = {}): Endpoints {
    const addresses = nodes.map(({ url }) => ({ url }))
    const endpoints = createEndpoints({ chainId: 31_337, endpoints: addresses, clock, requestTimeoutMs, ...options })
    opened.push(endpoints)
    return endpoints
  }
  /** Each request has its time-out asleep. */
  async function probed(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    await until(() => clock.sleepers().length === 0)
  }
  return {
    nodes,
    clock,
    nodeAt,
    open,
    alone: () => open({ endpoints: [{ url: nodeAt(0).url }] }),
    async workFor(endpoints, ms) {
      const names: string[] = []
      for (let passed = 0; passed < ms; passed += 5_000) {
        await clock.advance(5_000)
        names.push(await used(endpoints))
        await probed()
      }
      return names
    },
    async paused() {
      await until(() => clock.sleepers().length === 1 && clock.sleepers()[0] !== requestTimeoutMs)
      return clock.sleepers()[0] ?? 0
    },
    async close() {
      for (const endpoints of opened) endpoints.close()
      for (const node of nodes) await node.close()
    },
  }
}

/** Waits until it is so. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn > 2_000) throw new Error('This did not come true.')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
