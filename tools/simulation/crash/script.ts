/** The payments and updates of a seed, equal for every process and for the judge. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import { hex, makeTxHash, type ScriptedPayment } from '../../../packages/store-sql/test/support/scripted-chain.js'
import { createDraws } from '../random.js'

/** The chain of every script. */
export const chainId = 137

/** Number of integrations of a script. */
const integrationCount = 4

/** A payment and its final state. */
export interface ExpectedPayment {
  readonly txHash: string
  /** Null: it names no integration, so nothing is delivered. */
  readonly integrationAddress: string | null
  /** The version after all updates of the payment. */
  readonly version: number
  readonly state: string | null
}

export interface Script {
  readonly integrations: readonly string[]
  /** Payments by block, from block 1 on. */
  readonly blocks: readonly (readonly ScriptedPayment[])[]
  /** The service accepts each one; some arrive before their payment is indexed. */
  readonly updates: readonly ProcessorUpdate[]
  readonly expected: readonly ExpectedPayment[]
}

export interface ScriptSize {
  readonly blocks: number
  readonly maxPerBlock: number
}

const statePaths = [
  ['pending', 'success'],
  ['pending', 'failure', 'refund_pending'],
  ['success', 'refund_pending', 'refund_failure', 'refund_success'],
] as const

/** Writes the script of a seed. */
export function writeScript(seed: number, size: ScriptSize): Script {
  const draws = createDraws(seed).fork('script')
  const integrations = Array.from({ length: integrationCount }, (_, n) => hex(`integration ${seed} ${n}`, 20))
  const timedUpdates: { readonly at: number; readonly update: ProcessorUpdate }[] = []
  const expected: ExpectedPayment[] = []
  const blocks = Array.from({ length: size.blocks }, (_, block) =>
    Array.from({ length: draws.whole(1, size.maxPerBlock) }, (_, nth): ScriptedPayment => {
      const tx = `${seed} ${block} ${nth}`
      const integrationAddress = draws.chance(0.1) ? null : draws.pick(integrations)
      const updates = makeUpdates(tx, draws)
      let at = block + draws.fraction() * 4 - 1.5
      for (const update of updates) {
        timedUpdates.push({ at, update })
        at += draws.fraction() * 2
      }
      const state = updates.findLast((update) => update.state !== undefined)?.state ?? null
      expected.push({ txHash: makeTxHash(tx), integrationAddress, version: 1 + updates.length, state })
      return { tx, integrationAddress }
    }),
  )
  const updates = timedUpdates.toSorted((a, b) => a.at - b.at).map(({ update }) => update)
  return { integrations, blocks, updates, expected }
}

function makeUpdates(tx: string, draws: ReturnType<typeof createDraws>): ProcessorUpdate[] {
  const name = { chainId: String(chainId), txHash: makeTxHash(tx) }
  const path = draws.pick(statePaths)
  const states = path.slice(0, draws.whole(0, path.length))
  const updates: ProcessorUpdate[] = states.map((state, nth) => ({
    id: `${tx}/${nth}`.replaceAll(' ', '-'),
    ...name,
    state,
  }))
  if (draws.chance(0.4)) {
    const recipient = { title: `Kiosk ${draws.whole(1, 99)} “Zur Brücke”`, subtitle: null }
    updates.push({ id: `${tx}/merchant`.replaceAll(' ', '-'), ...name, recipient })
  }
  return updates
}
