/** Load on a server while its database fails over, and a record of everything that was confirmed. */
import { setTimeout as delay } from 'node:timers/promises'
import type { RunningServer } from '../../src/run/start-server.js'
import { facts, indexPayments } from './index-payments.js'
import { basic, signBody } from './integration-service.js'

/** The kinds of work, each of which must be possible again after a failover. */
export const kinds = ['index', 'update', 'read'] as const
export type Kind = (typeof kinds)[number]

/** Who sends the load, and where. */
export interface LoadTarget {
  readonly server: RunningServer
  readonly integrationAddress: string
  readonly apiSecret: string
  readonly processorSecret: string
}

const states = ['pending', 'success'] as const
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

/** Starts writers that index a payment, update it twice and read; each goes on until every step is confirmed. */
export function startFailoverLoad(target: LoadTarget, writers: number) {
  const { server, integrationAddress, apiSecret, processorSecret } = target
  const payments = new Set<string>()
  const updates = new Map<string, { txHash: string; version: number }>()
  const failures = { index: 0, update: 0, read: 0 }
  const begun: Record<Kind, number[]> = { index: [], update: [], read: [] }
  let isStopping = false
  let isGivingUp = false

  /** Repeats an idempotent attempt until it succeeds. */
  async function confirmed(kind: Kind, attempt: () => Promise<void>): Promise<void> {
    for (;;) {
      const at = performance.now()
      try {
        await attempt()
        begun[kind].push(at)
        return
      } catch {
        failures[kind] += 1
        if (isGivingUp) return
        await delay(20)
      }
    }
  }

  async function update(id: string, txHash: string, state: string): Promise<void> {
    const body = JSON.stringify({ id, chainId: '1', txHash, state })
    const headers = { 'content-type': 'application/json', 'x-service-signature': signBody(body, processorSecret) }
    const answer = await fetch(`${server.url}/api/v1/processor/updates`, { method: 'POST', body, headers })
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
    const { version } = (await answer.json()) as { version: number }
    updates.set(id, { txHash, version })
  }

  async function read(): Promise<void> {
    const headers = { authorization: basic(integrationAddress, apiSecret) }
    const answer = await fetch(`${server.url}/api/v1/integration/payments?limit=20`, { headers })
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
    await answer.arrayBuffer()
  }

  async function write(writer: number): Promise<void> {
    for (let n = 1; !isStopping; n += 1) {
      const txHash = hash(writer * 1_000_000 + n)
      const payment = facts({ txHash, integrationAddress, blockTimestamp: Date.now() })
      await confirmed('index', () => indexPayments(server.service.store, [payment]))
      payments.add(txHash)
      for (const state of states) await confirmed('update', () => update(`${txHash}-${state}`, txHash, state))
      await confirmed('read', read)
    }
  }

  const running = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer + 1)))
  return {
    payments,
    updates,
    failures,
    successesAfter: (kind: Kind, time: number) => begun[kind].filter((at) => at > time).length,
    async stop(how?: 'gives up') {
      isStopping = true
      isGivingUp = how === 'gives up'
      await running
    },
  }
}
