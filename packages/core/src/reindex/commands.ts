/** The operator's command for chains: reindex, with a record of each repair. @module */
import type { Audited } from '../audit/audited.js'
import type { Chain } from '../ports/chain.js'
import type { ChainCommands } from '../service-types.js'
import { type ReindexDeps, reindex } from './reindex.js'
import { ReindexError } from './reindex-error.js'

/** The dependencies of the command. */
export interface ChainCommandDeps extends Omit<ReindexDeps, 'chain' | 'beforeRepair'> {
  readonly chains: readonly Chain[]
  readonly audited: Audited
}

/** Builds the command. */
export function createChainCommands({ chains, audited, ...deps }: ChainCommandDeps): ChainCommands {
  return {
    async *reindex({ chainId, through, ...request }, signal) {
      const chain = (through === undefined ? chains : [through]).find((each) => each.chainId === chainId)
      if (chain === undefined) throw new ReindexError(chainId, `Chain ${chainId} is not followed by this process.`)
      const beforeRepair = ({ from, to }: { readonly from: number; readonly to: number }) =>
        audited(async (_tx, note) =>
          note({ action: 'chain.repair_started', subject: String(chainId), details: { from, to } }),
        )
      yield* reindex({ ...deps, chain, beforeRepair }, request, signal)
    },
  }
}
