/** Scripted nodes with a clock, for tests of how work is distributed. @module */
import { isRateLimit } from '../src/rpc/failures.js'
import type { Node } from '../src/rpc/json-rpc.js'
import { createNodes, type Nodes, type NodesOptions } from '../src/rpc/nodes.js'
import { manualClock } from './manual-clock.js'
import { always, type ScriptedNode, scriptedNode } from './scripted-node.js'

/** Differs from every pause, so that tests can distinguish the two. */
const requestTimeoutMs = 60_000

export const headCall = { method: 'eth_blockNumber', params: [] }
export const down = always(502, '<html>')

export async function readHead(node: Node) {
  const number = Number(await node.rpc.call(headCall))
  node.note({ kind: 'head', number })
  return { name: node.name, number }
}

/** Reads as many blocks as the node's range size allows. */
export async function readRange(node: Node) {
  const blocks = node.maxRange()
  try {
    await node.rpc.call({ method: 'eth_getLogs', params: [blocks] })
    node.note({ kind: 'range-read', blocks })
  } catch (error) {
    if (!isRateLimit(error)) node.note({ kind: 'range-failed', blocks })
    throw error
  }
  return { name: node.name, blocks }
}

export const used = async (nodes: Nodes) => (await nodes.runPinned(readHead)).name.slice(-2)

export type ScriptedNodes = Awaited<ReturnType<typeof openScriptedNodes>>

export async function openScriptedNodes() {
  const scripted = await Promise.all([scriptedNode(), scriptedNode()])
  const clock = manualClock()
  const opened: Nodes[] = []
  const nodeAt = (index: number): ScriptedNode => {
    const node = scripted[index]
    if (node === undefined) throw new Error(`There is no node ${index}.`)
    return node
  }
  /** Over all nodes, unless the options name others. */
  function open(options: Partial<NodesOptions> = {}): Nodes {
    const addresses = scripted.map(({ url }) => ({ url }))
    const nodes = createNodes({ chainId: 31_337, nodes: addresses, clock, requestTimeoutMs, ...options })
    opened.push(nodes)
    return nodes
  }
  /** Waits until no request is in flight: each has a sleeping time-out. */
  async function probed(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    await until(() => clock.sleepers().length === 0)
  }
  return {
    nodes: scripted,
    clock,
    nodeAt,
    open,
    /** Over the first node only. */
    alone: () => open({ nodes: [{ url: nodeAt(0).url }] }),
    /** Advances time in steps of five seconds, with work in each; resolves the node of each step. */
    async workFor(nodes: Nodes, ms: number) {
      const names: string[] = []
      for (let passed = 0; passed < ms; passed += 5_000) {
        await clock.advance(5_000)
        names.push(await used(nodes))
        await probed()
      }
      return names
    },
    /** Waits until no request is in flight and work waits for a pause; resolves its length in milliseconds. */
    async paused() {
      await until(() => clock.sleepers().length === 1 && clock.sleepers()[0] !== requestTimeoutMs)
      return clock.sleepers()[0] ?? 0
    },
    async close() {
      for (const nodes of opened) nodes.close()
      for (const node of scripted) await node.close()
    },
  }
}

/** Waits until the condition is true. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn > 200_000) throw new Error('This did not come true.')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
