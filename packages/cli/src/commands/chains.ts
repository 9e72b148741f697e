/** `payment-integration reindex` and `leases …`: repair indexed blocks, and show which process indexes. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import type { ReindexReport } from '@payment-integration/core'
import type { LeaseView, ReindexDifference } from '@payment-integration/core/internal'
import type { ChainConfig } from '@payment-integration/server/internal'
import { InvalidArgumentError } from 'commander'
import type { Cli, Options } from '../command.js'
import { addCommand, addGroup, databaseOption, parseChainId, wholeNumberParser, withActor } from '../command.js'
import { InterruptedError, UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { formatCount, groupDigits, plain } from '../output.js'
import { type OperateOptions, operate, withService } from '../with-service.js'

const parseHeight = wholeNumberParser(0, Number.MAX_SAFE_INTEGER)

export function addReindex(cli: Cli): void {
  const exampleNode = 'reindex --chain 137 --from 58000000 --node 2 --dry-run'
  withActor(addCommand(cli, 'reindex', reindexChain, exampleNode, 'reindex --chain 1 --from 100 --to 200'))
    .description('read blocks of a chain again, prove them, and repair stored payments that differ')
    .requiredOption('--chain <id>', 'chain id', parseChainId)
    .requiredOption('--from <block>', 'first block', parseHeight)
    .option('--to <block>', 'last block (default: the last indexed block)', parseHeight)
    .option('--node <url|number>', 'node to read from: a URL, or the position of a configured node', parseNode)
    .option('--dry-run', 'write nothing; exits with 1 when a stored payment differs')
    .option(...databaseOption)
}

type ReindexOptions = OperateOptions &
  Options<'to', number> &
  Options<'node', ChosenNode> &
  Options<'dryRun'> & { readonly chain: number; readonly from: number }

/**
 * Reads and proves blocks again, prints each range with its differences, and repairs them unless `dryRun` is set. The
 * audit log records a repair. The server may run meanwhile. When an error ends the run, the printed ranges are done.
 * @returns 1 when a dry run found differences, else 0.
 */
function reindexChain(options: ReindexOptions, io: Io): Promise<ExitCode> {
  const { chain: chainId, from, to, node, dryRun = false } = options
  if (to !== undefined && from > to) throw new UsageError(`--from ${from} is above --to ${to}; swap them.`)
  const totals = { blocks: 0, differences: 0, repaired: 0 }
  const ioWithNode = { ...io, env: withNode(io.env, chainId, node) }
  return withService(options, ioWithNode, async ({ chains }, report, config, logger) => {
    const { openChain } = await import('@payment-integration/server/service')
    const through = await openChain(chooseChain(config.chains, chainId, node), ({ router: _, ...log }) =>
      logger.warn(log, 'An event log of a router is not a payment and is ignored.'),
    )
    try {
      for await (const rangeReport of chains.reindex({ chainId, from, to, repair: !dryRun, through }, io.signal)) {
        report({ event: 'range', chainId, ...rangeReport }, reindexText)
        totals.blocks += rangeReport.range.to - rangeReport.range.from + 1
        totals.differences += rangeReport.differences.length
        if (rangeReport.repaired) totals.repaired += rangeReport.differences.length
      }
    } catch (error) {
      if (io.signal.aborted)
        throw new InterruptedError('Interrupted; the printed ranges are done, the others were not read.')
      // A block range outside the stored blocks is misuse.
      throw error instanceof RangeError ? new UsageError(error.message) : error
    } finally {
      through.close()
    }
    report({ event: 'summary', chainId, ...totals, dryRun }, summaryText)
    return dryRun && totals.differences > 0 ? 1 : 0
  })
}

/** A node, by its URL or by its position among the configured nodes, counted from 1. */
type ChosenNode = { readonly url: string } | { readonly position: number }

/** Parses the position or the URL of a node. The error omits the argument, which may hold a key. */
export function parseNode(text: string): ChosenNode {
  if (/^[1-9]\d{0,2}$/.test(text)) return { position: Number(text) }
  const url = parseUrl(text)
  const isAddress = url !== null && /^(https?|wss?):$/.test(url.protocol) && !text.includes(',')
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError(
      'Expected the position of a configured node, or an http(s) or ws(s) URL without a user or comma. ' +
        'Other users can see arguments: put an address with a key into PI_RPC_URL_<chain>, and give its position.',
    )
  return { url: text }
}

export function withNode(env: Io['env'], chainId: number, node: ChosenNode | undefined): Io['env'] {
  if (node === undefined || 'position' in node) return env
  const rpcUrl = `PI_RPC_URL_${chainId}`
  const headsUrl = `PI_HEADS_URL_${chainId}`
  const cleared = { [`${rpcUrl}_FILE`]: undefined, [headsUrl]: undefined, [`${headsUrl}_FILE`]: undefined }
  return { ...env, ...cleared, [rpcUrl]: node.url }
}

export function chooseChain(
  chains: readonly ChainConfig[],
  chainId: number,
  node: ChosenNode | undefined,
): ChainConfig {
  const chain = chains.find((each) => each.chainId === chainId)
  if (chain === undefined)
    throw new UsageError(`Chain ${chainId} is not configured; set PI_RPC_URL_${chainId}, or name a node with --node.`)
  if (node === undefined || 'url' in node) return chain
  const chosen = chain.nodes[node.position - 1]
  if (chosen === undefined)
    throw new UsageError(`PI_RPC_URL_${chainId} has ${chain.nodes.length} node(s), none at position ${node.position}.`)
  return { ...chain, nodes: [chosen] }
}

export function reindexText({ range, proof, node, differences, repaired }: ReindexReport): string[] {
  const result =
    differences.length === 0 ? 'as stored' : `${differencesText(differences.length)}${repaired ? ', repaired' : ''}`
  const head = `Blocks ${groupDigits(range.from)} to ${groupDigits(range.to)}: ${result}  (proof ${proof}, ${node})`
  return [head, ...differences.map((each) => `  ${differenceText(each)}`)]
}

type Totals = Readonly<Record<'blocks' | 'differences' | 'repaired', number>>

export function summaryText(event: Totals & { readonly chainId: number; readonly dryRun: boolean }): string[] {
  const { chainId, blocks, differences, repaired, dryRun } = event
  const end = dryRun ? 'nothing was written' : `${groupDigits(repaired)} repaired`
  const result = differences === 0 ? 'everything is as stored' : `${differencesText(differences)}, ${end}`
  return [`Chain ${chainId}: ${formatCount(blocks, 'block')} read, ${result}.`]
}

const differencesText = (differences: number) => formatCount(differences, 'difference')

function differenceText({ kind, txHash, ordinal, fields = [] }: ReindexDifference): string {
  const which = fields.length === 0 ? '' : `  ${fields.join(', ')}`
  return `${kind.padEnd(7)}  ${txHash}  payment ${ordinal}${which}`
}

export function addLeases(cli: Cli): void {
  const about = 'list and release leases, by which one process at a time does a piece of work'
  const { add, change } = addGroup(cli, 'leases', about, 'list', 'release indexer:137')
  add('list', listLeases, 'list --json').description('list all leases with their holders and remaining times')
  change('release', releaseLease, 'release indexer:137')
    .description('release a lease whose holder is dead; another process takes it at once')
    .argument('<name>', 'name of the lease, as leases list prints it')
}

const listLeases = operate(async ({ leases }, { report }) => {
  const event = (lease: LeaseView) => ({ event: 'lease', lease })
  report.all(await leases.list(), event, (all) => all.map(leaseLine), 'No process holds a lease.')
})

const releaseLease = operate(async ({ leases }, { report }, name: string) => {
  const lease = await leases.release(name)
  if (lease === null) throw new UsageError(`There is no lease ${JSON.stringify(name)}; leases list prints all of them.`)
  report({ event: 'lease.released', lease }, () => [`Released ${plain(name)}.`])
})

function leaseLine({ name, holder, endsInMs }: LeaseView): string {
  const end = endsInMs > 0 ? `ends in ${Math.ceil(endsInMs / 1_000)} s` : 'ended'
  return `${plain(name)}  ${plain(holder)}  ${end}`
}
