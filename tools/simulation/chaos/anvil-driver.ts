/** Drives anvil: mines blocks, reorganises the chain, and sends orphaned payments again. @module */
import type { Draws } from '../random.js'
import type { Plan } from '../world/plan.js'
import type { AnvilChain, SignedPayment } from './anvil-chain.js'

/** Changes the chain. */
export interface AnvilDriver {
  /** Every payment that was ever signed, by hash. */
  readonly signed: ReadonlyMap<string, SignedPayment>
  mine(): Promise<void>
  fork(): Promise<void>
  /** Drops waiting payments, and mines `blocks` empty blocks above the highest one so far. */
  finalise(blocks: number): Promise<void>
  forks(): number
  /** Blocks that the deepest reorganisation removed. */
  deepest(): number
}

/** Most payments of a seed: each has its own payer. */
const mostPayments = 60
/** Chance that the reorganisation puts an orphaned payment into its own new blocks. */
const putBackChance = 0.45
/** Chance that any other orphaned payment is sent again later; otherwise it is lost. */
const returnChance = 0.45

/** Creates the driver. @param startBlock - Blocks up to this height are never removed. */
export function createAnvilDriver(chain: AnvilChain, plan: Plan, draws: Draws, startBlock: number): AnvilDriver {
  const signed = new Map<string, SignedPayment>()
  let waiting: SignedPayment[] = []
  let highest = startBlock
  let forks = 0
  let deepest = 0

  const height = async () => Number(await chain.rpc<string>('eth_blockNumber'))

  async function mineOne(): Promise<void> {
    await chain.rpc('evm_mine')
    highest = Math.max(highest, await height())
  }

  async function mine(): Promise<void> {
    const back = waiting.splice(0, draws.whole(0, 2))
    const fresh: SignedPayment[] = []
    for (let count = draws.pick([0, 1, 1, 2]); count > 0 && signed.size < mostPayments; count -= 1) {
      const payment = await chain.sign(draws)
      signed.set(payment.hash, payment)
      fresh.push(payment)
    }
    // A reorganisation may have mined it again.
    for (const { raw } of [...back, ...fresh]) await chain.rpc('eth_sendRawTransaction', raw).catch(() => undefined)
    await mineOne()
  }

  async function transactionsAbove(from: number, to: number): Promise<SignedPayment[]> {
    const found: SignedPayment[] = []
    for (let number = from + 1; number <= to; number += 1) {
      const tag = `0x${number.toString(16)}`
      const block = await chain.rpc<{ readonly transactions: readonly string[] }>('eth_getBlockByNumber', tag, false)
      for (const hash of block.transactions) {
        const payment = signed.get(hash)
        if (payment !== undefined) found.push(payment)
      }
    }
    return found
  }

  async function fork(): Promise<void> {
    if (plan.forks === 'none') return
    const tip = await height()
    const floor = plan.forks === 'deep' ? startBlock : Math.max(startBlock, highest - plan.finalityBlocks)
    const most = tip - floor
    if (most < 1) return
    const depth = draws.chance(0.5)
      ? draws.whole(1, Math.min(2, most))
      : draws.whole(1, Math.min(most, 2 * plan.finalityBlocks))
    const orphaned = await transactionsAbove(tip - depth, tip)
    const putBack: [string, number][] = []
    for (const payment of orphaned) {
      if (draws.chance(putBackChance)) putBack.push([payment.raw, draws.whole(0, depth - 1)])
      else if (draws.chance(returnChance)) waiting.push(payment)
    }
    await chain.rpc('anvil_reorg', depth, putBack)
    forks += 1
    deepest = Math.max(deepest, depth)
    for (let block = draws.whole(0, 2); block > 0; block -= 1) await mine()
  }

  return {
    signed,
    mine,
    fork,
    forks: () => forks,
    deepest: () => deepest,
    async finalise(blocks) {
      waiting = []
      const until = highest + blocks
      while ((await height()) < until) await mineOne()
    },
  }
}
