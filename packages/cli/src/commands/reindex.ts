/** `payment-integration reindex`: reads blocks again, from another node where one is named, and repairs what differs. @module */
import { InterruptedError, UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { type ChosenEndpoint, chosenChain, withEndpoint } from '../reindex/choose-endpoints.js'
import { reindexText, summaryText } from '../reindex/reindex-text.js'
import { type OperateOptions, withService } from './with-service.js'

/** Options of {@link reindexChain}. */
export interface ReindexOptions extends OperateOptions {
  readonly chain: number
  readonly from: number
  /** Included. @default as far as the chain is indexed */
  readonly to?: number | undefined
  /** @default the configured ones */
  readonly endpoint?: ChosenEndpoint | undefined
  /** Tell only. @default false */
  readonly dryRun?: boolean | undefined
}

/**
 * Reads the blocks again, proves them, prints each range with every difference, and repairs through the path of everything else.
 * The server may run meanwhile.
 * @returns 0 when nothing differs, or everything that can be written was; 1 when a dry run found differences.
 * @throws UsageError `ERR_USAGE` for a chain, an endpoint or heights that are not there; InterruptedError `ERR_INTERRUPTED`, ChainError,
 * StoreError: the ranges printed until then are done.
 */
export async function reindexChain(options: ReindexOptions, io: Io): Promise<ExitCode> {
  const { chain: chainId, from, to, endpoint, dryRun = false } = options
  if (to !== undefined && from > to) throw new UsageError(`--from ${from} is above --to ${to}; exchange them.`)
  const totals = { blocks: 0, differences: 0, repaired: 0 }

  const world = { ...io, env: withEndpoint(io.env, chainId, endpoint) }
  await withService(options, world, async ({ store }, report, config, logger) => {
    const { reindex } = await import('@payment-integration/core')
    const { openChain } = await import('@payment-integration/server/service')
    const chain = openChain(
      chosenChain(config.chains, chainId, endpoint),
      ({ txHash, blockNumber, logIndex, reason }) =>
        logger.warn(
          { chainId, txHash, blockNumber, logIndex, reason },
          'A log of a router is no payment and is left out.',
        ),
    )
    const confirmations = Object.fromEntries(config.chains.map((each) => [each.chainId, each.confirmations]))
    const deps = { store, chain, confirmations, publish: () => undefined }
    try {
      for await (const found of reindex(deps, { from, to, repair: !dryRun }, io.signal)) {
        report({ event: 'range', chainId, ...found }, reindexText)
        totals.blocks += found.range.to - found.range.from + 1
        totals.differences += found.differences.length
        totals.repaired += found.repaired ? found.differences.length : 0
      }
    } catch (error) {
      throw explained(error, io.signal)
    } finally {
      chain.close()
    }
    report({ event: 'summary', chainId, ...totals, dryRun }, summaryText)
  })
  return dryRun && totals.differences > 0 ? 1 : 0
}

/** Heights that do not fit what is stored are a mistake in the arguments. */
function explained(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted)
    return new InterruptedError('Interrupted; what was printed until then is done, and the rest was not read.')
  return error instanceof RangeError ? new UsageError(error.message) : error
}
