/** Chains with their progress, proofs and nodes, and the act that reindexes blocks. @module */
import type { ChainStatus, ReindexReport } from '@payment-integration/core'
import type { RouterCoverage } from '@payment-integration/core/internal'
import type { ProvenRange } from '@payment-integration/core/ports'
import { FilterError, parseWholeNumber } from '../filters.js'
import type { JobReport } from '../jobs.js'
import { ActForm, ForRole, TextField } from '../view/forms.js'
import type { Column } from '../view/parts.js'
import { Badge, buildHref, Dim, Empty, Hex, paymentPath, Shown, Table, TableRow, When } from '../view/parts.js'
import { formatCount, formatLatency, formatNumber, nameChain } from '../view/text.js'
import { ActError } from '../web/run-form.js'
import { startJob } from './jobs.js'
import { actsFor, type Load } from './page.js'

type BlockRange = Pick<ProvenRange, 'from' | 'to'>

const maxRanges = 200

export const chainsPage: Load = async ({ service: { indexers, queries } }) => {
  const chains = await Promise.all(
    indexers.map(async (indexer) => ({
      status: indexer.status(),
      proofs: await queries.proofs(indexer.chainId, maxRanges),
      coverage: await queries.coverage(indexer.chainId),
    })),
  )
  const body = (
    <>
      <h1>Chains</h1>
      <p class="dim">
        The service reads these chains from nodes and records their payments. A block is indexed once its payments are
        stored; “Proven by” says how the service made sure that none is missing.
      </p>
      <ChainTable chains={chains.map(({ status }) => status)} />
      {chains
        .filter(({ status }) => isActive(status))
        .map((chain) => (
          <OneChain {...chain} />
        ))}
    </>
  )
  return { title: 'Chains', section: '/chains', body, live: 'topic=chains' }
}

const columns: readonly Column<ChainStatus>[] = [
  ['Chain', ({ chainId }) => <a href={`${buildHref('/chains')}#chain-${chainId}`}>{nameChain(chainId)}</a>],
  ['State', ChainState],
  ['Newest block', ({ head }) => formatHeight(head), 'n'],
  ['Mined at', ({ headAt }) => <When at={headAt} />],
  ['Indexed up to', ({ indexed }) => formatHeight(indexed), 'n'],
  [
    'Blocks behind',
    ({ head, indexed }) => (head === null || indexed === null ? '' : formatNumber(Math.max(0, head - indexed))),
    'n',
  ],
  ['Proven by', ({ proof }) => (proof === null ? <Dim>none yet</Dim> : <Proof level={proof} />)],
  ['Reorgs since start', ({ reorgs }) => reorgs, 'n'],
]

/** Each proof level in words, with its name in the settings. */
const proofWords: Readonly<Record<ProvenRange['proof'], string>> = {
  root: 'all receipts (root)',
  bloom: 'log filters (bloom)',
  none: 'no proof, node trusted (none)',
}

const Proof = ({ level }: { level: ProvenRange['proof'] }) => (
  <Badge word={proofWords[level]} tone={level === 'none' ? 'warn' : 'good'} />
)

/** Whether a chain has a block or an error to show. A simulated chain starts without a block. */
const isActive = ({ head, error }: ChainStatus) => (head ?? 0) > 0 || error !== null

export function ChainTable({ chains }: { chains: readonly ChainStatus[] }) {
  const idle = chains.filter((chain) => !isActive(chain)).map(({ chainId }) => nameChain(chainId))
  return (
    <>
      <Table
        label="Chains"
        rows={chains.filter(isActive)}
        columns={columns}
        id="chains"
        empty={
          chains.length > 0 ? undefined : (
            <Empty title="No chain is followed yet.">
              <p>
                A chain is where payments are found. Set PI_RPC_URL_&lt;chainId&gt; to a node and
                PI_ROUTERS_&lt;chainId&gt; to the router contracts, then start again.
              </p>
            </Empty>
          )
        }
      />
      {idle.length === 0 ? null : <p class="dim">No block indexed yet: {idle.join(', ')}.</p>}
    </>
  )
}

export const ChainRows = ({ chains }: { chains: readonly ChainStatus[] }) => (
  <>
    {chains.filter(isActive).map((chain) => (
      <TableRow row={chain} columns={columns} />
    ))}
  </>
)

function ChainState({ error, leading, head, indexed }: ChainStatus) {
  if (error !== null) return <Badge word="indexing fails" tone="bad" />
  if (!leading) return <Badge word="indexed by another process" tone="plain" />
  return <Badge word={(head ?? 0) - (indexed ?? 0) > 100 ? 'catching up' : 'up to date'} tone="good" />
}

const formatHeight = (block: number | null) => (block === null ? <Dim>none yet</Dim> : formatNumber(block))

const formatRange = ({ from, to }: BlockRange) => `${formatNumber(from)} to ${formatNumber(to)}`

type ChainDetail = { status: ChainStatus; proofs: readonly ProvenRange[]; coverage: readonly RouterCoverage[] }

function OneChain({ status, proofs, coverage }: ChainDetail) {
  const { chainId, lastError } = status
  const gaps = findGaps(proofs)
  return (
    <section id={`chain-${chainId}`}>
      <h2>
        {nameChain(chainId)}{' '}
        <a class="more" href={buildHref('/payments', { chain: chainId })}>
          Payments
        </a>
      </h2>
      {lastError === null ? null : (
        <p class="note bad">
          Last error at <When at={lastError.at} withDate />: <Shown text={lastError.message} />
        </p>
      )}
      <h3>Nodes</h3>
      <p class="dim">Blocks are read from the node in use. Counts are since the start of this process.</p>
      <Table
        label={`Nodes of chain ${chainId}`}
        rows={status.nodes}
        columns={[
          ['Node', ({ name }) => <Shown text={name} />],
          [
            'State',
            ({ inUse, score }) => {
              if (inUse) return <Badge word="in use" tone="good" />
              if (score > 0) return <Badge word="standby" tone="plain" />
              return <Badge word="avoided after errors" tone="warn" />
            },
          ],
          ['Newest block', ({ head }) => formatHeight(head), 'n'],
          ['Response time', ({ latencyMs: ms }) => (ms === null ? <Dim>none yet</Dim> : formatLatency(ms)), 'n'],
          ['Unanswered requests', ({ failures }) => failures, 'n'],
          ['Contradictory answers', ({ contradictions }) => contradictions, 'n'],
          ['Failed proofs', ({ failedProofs }) => failedProofs, 'n'],
          ['Last error', ({ lastError: last }) => (last === null ? <Dim>none</Dim> : <Shown text={last} />)],
        ]}
      />
      <Reorgs {...status} />
      <h3>Indexed blocks</h3>
      {gaps.length === 0 ? (
        <p class="dim">No block is missing among the newest {maxRanges} ranges.</p>
      ) : (
        <p class="note bad">Missing blocks: {gaps.map(formatRange).join(', ')}. Read them again.</p>
      )}
      <Table
        label={`Indexed blocks of chain ${chainId}`}
        rows={proofs.slice(0, 20)}
        columns={[
          ['Blocks', formatRange],
          ['Proven by', ({ proof }) => <Proof level={proof} />],
          ['Read from node', ({ node }) => <Shown text={node} />],
        ]}
      />
      <h3>Payment routers</h3>
      <ul class="bullets">
        {coverage.map(({ router, from, to }) => (
          <li>
            Contract <Hex value={router} />: payments are recorded from block {formatNumber(from)} to{' '}
            {to === null ? 'the newest indexed block' : formatNumber(to)}
          </li>
        ))}
      </ul>
      <ReindexForm chainId={chainId} indexed={status.indexed} gaps={gaps} />
    </section>
  )
}

function Reorgs({ chainId, reorgs, newestReorgs: newest }: ChainStatus) {
  return (
    <>
      <h3>Reorgs: blocks that the chain replaced</h3>
      {reorgs === 0 || reorgs === newest.length ? null : (
        <p class="dim">
          The newest {newest.length} of {formatNumber(reorgs)} since the start of this process.
        </p>
      )}
      <Table
        label={`Reorgs of chain ${chainId}`}
        rows={newest}
        columns={[
          ['Detected at', ({ at }) => <When at={at} withDate />],
          ['Blocks replaced', ({ from, commonAncestor }) => formatNumber(from - commonAncestor), 'n'],
          ['First', ({ commonAncestor }) => formatNumber(commonAncestor + 1), 'n'],
          ['Last', ({ from }) => formatNumber(from), 'n'],
        ]}
        empty={<p class="dim">None since the start of this process.</p>}
      />
    </>
  )
}

const digits = { inputmode: 'numeric', pattern: '\\d{1,15}' } as const

function ReindexForm(props: { chainId: number; indexed: number | null; gaps: readonly BlockRange[] }) {
  const { chainId: chain, indexed, gaps } = props
  if (indexed === null) return null
  const act = { act: 'reindex', needs: 'operator' } as const
  return (
    <ForRole needs="operator">
      <h3>Read blocks again</h3>
      <p class="dim">
        A dry run reads the blocks and lists where the stored payments differ. It writes nothing, and then offers the
        repair.
      </p>
      <div class="acts">
        <ActForm {...act} label="Dry run" fields={{ chain }}>
          <TextField name="from" label="First block" {...digits} />
          <TextField name="to" label="Last block" hint={String(indexed)} isOptional {...digits} />
        </ActForm>
        {gaps.slice(0, 5).map((gap) => (
          <ActForm {...act} label={`Dry run of the gap ${formatRange(gap)}`} fields={{ chain, ...gap }} />
        ))}
      </div>
    </ForRole>
  )
}

export function findGaps(proofs: readonly ProvenRange[]): BlockRange[] {
  return proofs.flatMap((newer, index) => {
    const older = proofs[index + 1]
    return older !== undefined && older.to + 1 < newer.from ? [{ from: older.to + 1, to: newer.from - 1 }] : []
  })
}

export const chainActs = actsFor('operator', {
  /** Fields: `chain`, `from`, `to` (default: the last indexed block), `repair` (`yes` writes). Opens the job. */
  async reindex(input) {
    const { fields, commands, service } = input
    const chainId = parseWholeNumber('Chain', fields['chain'] ?? '')
    const from = parseWholeNumber('First block', fields['from'] ?? '')
    const checkpoint = await service.queries.checkpoint(chainId)
    if (checkpoint === null) throw new ActError(`Nothing of chain ${chainId} is indexed.`)
    const newest = checkpoint.blockNumber
    const to = fields['to'] === undefined ? newest : parseWholeNumber('Last block', fields['to'])
    if (from > to) throw new FilterError(`First block ${from} is above last block ${to}; swap them.`)
    if (to > newest) throw new FilterError(`Block ${to} is not indexed yet; the newest indexed one is ${newest}.`)
    const range = { chainId, from, to, repair: fields['repair'] === 'yes' }
    return startJob(input, {
      title: `${range.repair ? 'Repair' : 'Dry run'} of chain ${chainId}, blocks ${formatRange(range)}`,
      total: to - from + 1,
      run: (report, signal) => reportReindex(commands.chains.reindex(range, signal), range, report),
    })
  },
})

interface Reindex extends BlockRange {
  readonly chainId: number
  readonly repair: boolean
}

async function reportReindex(parts: AsyncIterable<ReindexReport>, range: Reindex, report: JobReport): Promise<void> {
  const { chainId, from, to, repair } = range
  let [differences, repaired] = [0, 0]
  for await (const part of parts) {
    for (const { kind, txHash, ordinal, fields = [] } of part.differences)
      report.addRow({
        word: kind,
        tone: part.repaired ? 'good' : 'bad',
        text: `${txHash}, payment ${ordinal}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`,
        // A missing payment has no page before the repair.
        ...(kind === 'missing' && !part.repaired ? {} : { path: paymentPath({ chainId, txHash }) }),
      })
    differences += part.differences.length
    repaired += part.repaired ? part.differences.length : 0
    const done = part.range.to - from + 1
    const read = `${formatCount(done, 'block')} read and proven`
    const outcome = repair ? `${formatNumber(repaired)} repaired` : 'nothing was written'
    const result = `${formatCount(differences, 'difference')}, ${outcome}`
    report({ done, words: `${read}, ${differences === 0 ? 'everything is as stored' : result}.` })
  }
  const fields = { chain: chainId, from, to, repair: 'yes' }
  if (!repair) report({ next: { act: 'reindex', label: 'Read them again and repair', fields } })
}
