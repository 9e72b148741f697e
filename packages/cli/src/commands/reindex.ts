/** `payment-integration reindex`: reads blocks again and repairs stored payments that differ. @module */
import type { Difference, ReindexReport } from '@payment-integration/core'
import type { ChainConfig } from '@payment-integration/server'
import { type Command, InvalidArgumentError } from 'commander'
import { examples, type Finish, optionsOf } from '../command.js'
import { InterruptedError, UsageError } from '../errors.js'
import { grouped, plain } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { parseChainId, wholeNumber } from '../parse.js'
import { type OperateOptions, withService } from '../with-service.js'

const height = wholeNumber(0, Number.MAX_SAFE_INTEGER)

/** Adds the command. */
export function addReindex(program: Command, io: Io, finish: Finish): void {
  program
    .command('reindex')
    .description('read blocks of a chain again, prove them, and repair what is stored otherwise')
    .requiredOption('--chain <id>', 'chain id', (text) => parseChainId(text, 'Expected a chain id in plain digits.'))
    .requiredOption('--from <block>', 'first block', height)
    .option('--to <block>', 'last block (default: as far as the chain is indexed)', height)
    .option('--endpoint <url|number>', 'read from this node, or the configured one at this position', parseEndpoint)
    .option('--dry-run', 'write nothing; end 1 when something differs')
    .option('--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)')
    .addHelpText(
      'after',
      examples('reindex --chain 137 --from 58000000 --endpoint 2 --dry-run', 'reindex --chain 1 --from 100 --to 200'),
    )
    .action(async (_options, command) => finish(await reindexChain(optionsOf<ReindexOptions>(command), io)))
}

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

/** A node that is named by its address, or by its position among those that are configured, counted from 1. */
export type ChosenEndpoint = { readonly url: string } | { readonly position: number }

/**
 * Reads a position or an address from an argument.
 * @throws InvalidArgumentError With what is expected; it repeats nothing of the argument.
 */
export function parseEndpoint(text: string): ChosenEndpoint {
  if (/^[1-9]\d{0,2}$/.test(text)) return { position: Number(text) }
  const url = URL.canParse(text) ? new URL(text) : null
  const isAddress = url !== null && /^(https?|wss?):$/.test(url.protocol) && !text.includes(',')
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError(
      'Expected the position of a configured endpoint, or an http(s) or ws(s) URL without user and comma. ' +
        'Other users can see arguments: put an address with a key into PI_RPC_URL_<chain>, and give its position.',
    )
  return { url: text }
}

/** The environment of a command that reads the chain from `endpoint`: an address stands in place of the configured ones. */
export function withEndpoint(env: Io['env'], chainId: number, endpoint: ChosenEndpoint | undefined): Io['env'] {
  if (endpoint === undefined || 'position' in endpoint) return env
  return { ...env, [`PI_RPC_URL_${chainId}`]: endpoint.url, [`PI_HEADS_URL_${chainId}`]: undefined }
}

/**
 * The chain as it is to be read.
 * @throws UsageError `ERR_USAGE` when it is not configured, or has no endpoint at that position.
 */
export function chosenChain(
  chains: readonly ChainConfig[],
  chainId: number,
  endpoint: ChosenEndpoint | undefined,
): ChainConfig {
  const chain = chains.find((each) => each.chainId === chainId)
  if (chain === undefined)
    throw new UsageError(
      `Chain ${chainId} is not configured; set PI_RPC_URL_${chainId}, or name a node with --endpoint.`,
    )
  if (endpoint === undefined || 'url' in endpoint) return chain
  const chosen = chain.endpoints[endpoint.position - 1]
  if (chosen === undefined)
    throw new UsageError(
      `PI_RPC_URL_${chainId} names ${chain.endpoints.length} endpoint(s), and no number ${endpoint.position}.`,
    )
  return { ...chain, endpoints: [chosen] }
}

/** How a reindex ended. */
export interface ReindexSummary {
  readonly chainId: number
  /** Blocks that were read. */
  readonly blocks: number
  readonly differences: number
  /** Differences in ranges that were written. */
  readonly repaired: number
  readonly dryRun: boolean
}

/** One line for the range, and one for each difference with its whole hash. */
export function reindexText({ range, proof, endpoint, differences, repaired }: ReindexReport): string[] {
  const found = differences.length === 0 ? 'as stored' : `${counted(differences.length)}${repaired ? ', repaired' : ''}`
  const head = `Blocks ${grouped(range.from)} to ${grouped(range.to)}: ${found}  (proof ${proof}, ${plain(endpoint)})`
  return [head, ...differences.map((each) => `  ${differenceText(each)}`)]
}

/** The last line. */
export function summaryText({ chainId, blocks, differences, repaired, dryRun }: ReindexSummary): string[] {
  const end =
    differences === 0
      ? 'everything is as stored'
      : `${counted(differences)}, ${dryRun ? 'nothing was written' : `${grouped(repaired)} repaired`}`
  return [`Chain ${chainId}: ${grouped(blocks)} ${blocks === 1 ? 'block' : 'blocks'} read, ${end}.`]
}

const counted = (count: number) => `${grouped(count)} ${count === 1 ? 'difference' : 'differences'}`

function differenceText({ kind, txHash, ordinal, fields = [] }: Difference): string {
  const which = fields.length === 0 ? '' : `  ${fields.join(', ')}`
  return `${kind.padEnd(7)}  ${txHash}  payment ${ordinal}${which}`
}
