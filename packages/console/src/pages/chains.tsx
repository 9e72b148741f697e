/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Chains: how far each is indexed, how it is proven, its nodes, and the act that reads blocks again. @module */
import type { ChainStatus, ReindexReport } from '@payment-integration/core'
import type { ProvenRange, RouterCoverage } from '@payment-integration/core/ports'
import { FilterError, wholeOf } from '../filters.js'
import type { JobReport, NextAct } from '../jobs.js'
import { ActForm, ForRole } from '../view/forms.js'
import { Badge, Cell, Empty, Hex, hrefOf, paymentPath, Shown, Table, When } from '../view/parts.js'
import { grouped, latencyOf } from '../view/text.js'
import { ActError } from '../web/run-form.js'
import { jobPath } from './jobs.js'
import type { Act } from './page.js'

/** A chain with its stored ranges. */
interface ChainDetail {
  readonly status: ChainStatus
  /** Newest first. */
  readonly proofs: readonly ProvenRange[]
  readonly coverage: readonly RouterCoverage[]
}

const columns = [
  { title: 'Chain' },
  { title: 'State' },
  { title: 'Head', isNumber: true },
  { title: 'Head since' },
  { title: 'Indexed', isNumber: true },
  { title: 'Lag', isNumber: true },
  { title: 'Proof' },
  { title: 'Reorgs', isNumber: true },
]

/** The table of all chains. */
export function ChainTable({ chains }: { chains: readonly ChainStatus[] }) {
  if (chains.length === 0)
    return (
      <Empty title="No chain is followed.">
        <p>Set PI_RPC_URL_&lt;chainId&gt; and PI_ROUTERS_&lt;chainId&gt;, and start again.</p>
      </Empty>
    )
  return (
    <Table label="Chains" columns={columns} id="chains">
      <ChainRows chains={chains} />
    </Table>
  )
}

/** Its rows. */
export function ChainRows({ chains }: { chains: readonly ChainStatus[] }) {
  return (
    <>
      {chains.map((chain) => (
        <tr>
          <Cell of="Chain">
            <a href={`${hrefOf('/chains', {})}#chain-${chain.chainId}`}>{chain.chainId}</a>
          </Cell>
          <Cell of="State">
            <ChainState chain={chain} />
          </Cell>
          <Cell of="Head" isNumber>
            {height(chain.head)}
          </Cell>
          <Cell of="Head since">
            <When at={chain.headAt} />
          </Cell>
          <Cell of="Indexed" isNumber>
            {height(chain.indexed)}
          </Cell>
          <Cell of="Lag" isNumber>
            {lagOf(chain)}
          </Cell>
          <Cell of="Proof">
            {chain.proof === null ? <span class="dim">none yet</span> : <Badge word={chain.proof} />}
          </Cell>
          <Cell of="Reorgs" isNumber>
            {chain.reorganisations}
          </Cell>
        </tr>
      ))}
    </>
  )
}

/** The page. */
export function ChainsPage({ chains }: { chains: readonly ChainDetail[] }) {
  return (
    <>
      <h1>Chains</h1>
      <ChainTable chains={chains.map(({ status }) => status)} />
      {chains.map((chain) => (
        <OneChain {...chain} />
      ))}
    </>
  )
}

function OneChain({ status, proofs, coverage }: ChainDetail) {
  const gaps = gapsOf(proofs)
  return (
    <section id={`chain-${status.chainId}`}>
      <h2>
        Chain {status.chainId}{' '}
        <a class="more" href={hrefOf('/payments', { chain: status.chainId })}>
          its payments
        </a>
      </h2>
      {status.lastError === null ? null : (
        <p class="note bad">
          Last error at <When at={status.lastError.at} withDate />: <Shown text={status.lastError.message} />
        </p>
      )}
      <Nodes status={status} />
      <Reorganisations {...status} />
      <h3>Read blocks</h3>
      {gaps.length === 0 ? (
        <p class="dim">The newest 200 stored ranges have no gap.</p>
      ) : (
        <p class="note bad">
          Gaps: {gaps.map(({ from, to }) => `${grouped(from)} to ${grouped(to)}`).join(', ')}. Read them again.
        </p>
      )}
      <ReindexForm chainId={status.chainId} indexed={status.indexed} gaps={gaps} />
      <Table
        label={`Proven ranges of chain ${status.chainId}`}
        columns={[{ title: 'From' }, { title: 'To', isNumber: true }, { title: 'Proof' }, { title: 'Node' }]}
      >
        {proofs.slice(0, 20).map(({ from, to, proof, node }) => (
          <tr>
            <Cell of="From">{grouped(from)}</Cell>
            <Cell of="To" isNumber>
              {grouped(to)}
            </Cell>
            <Cell of="Proof">
              <Badge word={proof} />
            </Cell>
            <Cell of="Node">
              <Shown text={node} />
            </Cell>
          </tr>
        ))}
      </Table>
      <ul class="bullets">
        {coverage.map(({ router, from, to }) => (
          <li>
            Router <Hex value={router} />: blocks {grouped(from)} to {to === null ? 'the newest' : grouped(to)}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Nodes({ status }: { status: ChainStatus }) {
  const titles = ['Node', 'State', 'Head', 'Latency', 'Failures', 'Contradictions', 'Failed proofs', 'Last error']
  return (
    <Table
      label={`Nodes of chain ${status.chainId}`}
      columns={titles.map((title, index) => ({ title, isNumber: index > 1 && index < 7 }))}
    >
      {status.nodes.map((node) => (
        <tr>
          <Cell of="Node">
            <Shown text={node.name} />
          </Cell>
          <Cell of="State">
            <Badge
              word={node.inUse ? 'in use' : node.score > 0 ? 'ready' : 'avoided'}
              tone={node.inUse ? 'good' : node.score > 0 ? 'plain' : 'warn'}
            />
          </Cell>
          <Cell of="Head" isNumber>
            {height(node.head)}
          </Cell>
          <Cell of="Latency" isNumber>
            {node.latencyMs === null ? 'none yet' : latencyOf(node.latencyMs)}
          </Cell>
          <Cell of="Failures" isNumber>
            {node.failures}
          </Cell>
          <Cell of="Contradictions" isNumber>
            {node.contradictions}
          </Cell>
          <Cell of="Failed proofs" isNumber>
            {node.failedProofs}
          </Cell>
          <Cell of="Last error">
            {node.lastError === null ? <span class="dim">none</span> : <Shown text={node.lastError} />}
          </Cell>
        </tr>
      ))}
    </Table>
  )
}

function ChainState({ chain }: { chain: ChainStatus }) {
  if (chain.error !== null) return <Badge word="failing" tone="bad" />
  if (!chain.leading) return <Badge word="another process" tone="plain" />
  return <Badge word={(chain.head ?? 0) - (chain.indexed ?? 0) > 100 ? 'catching up' : 'following'} tone="good" />
}

const height = (block: number | null) => (block === null ? <span class="dim">none yet</span> : grouped(block))
const lagOf = ({ head, indexed }: ChainStatus) =>
  head === null || indexed === null ? '' : grouped(Math.max(0, head - indexed))

/** Their times and depths, newest first. */
function Reorganisations({ chainId, reorganisations, newestReorganisations }: ChainStatus) {
  const titles = ['Followed at', 'Depth in blocks', 'Orphaned from', 'Orphaned to']
  return (
    <>
      <h3>Reorganisations</h3>
      {reorganisations === 0 ? (
        <p class="dim">None since the start of this process.</p>
      ) : (
        <>
          {reorganisations === newestReorganisations.length ? null : (
            <p class="dim">
              The newest {newestReorganisations.length} of {grouped(reorganisations)} since the start of this process.
            </p>
          )}
          <Table
            label={`Reorganisations of chain ${chainId}`}
            columns={titles.map((title, index) => ({ title, isNumber: index > 0 }))}
          >
            {newestReorganisations.map(({ at, from, commonAncestor }) => (
              <tr>
                <Cell of="Followed at">
                  <When at={at} withDate />
                </Cell>
                <Cell of="Depth in blocks" isNumber>
                  {grouped(from - commonAncestor)}
                </Cell>
                <Cell of="Orphaned from" isNumber>
                  {grouped(commonAncestor + 1)}
                </Cell>
                <Cell of="Orphaned to" isNumber>
                  {grouped(from)}
                </Cell>
              </tr>
            ))}
          </Table>
        </>
      )}
    </>
  )
}

/** The form of a chain, with one button for each gap. */
function ReindexForm(props: {
  chainId: number
  indexed: number | null
  gaps: readonly { readonly from: number; readonly to: number }[]
}) {
  const { chainId, indexed, gaps } = props
  if (indexed === null) return null
  return (
    <ForRole needs="operator">
      <p class="dim">
        A dry run reads blocks again, proves them and lists what differs from the stored payments. It writes nothing,
        and then offers the repair.
      </p>
      <div class="acts">
        <ActForm act="reindex" label="Dry run" needs="operator" fields={{ chain: chainId }}>
          <BlockField name="from" label="First block" chainId={chainId} required />
          <BlockField name="to" label="Last block" chainId={chainId} placeholder={String(indexed)} />
        </ActForm>
        {gaps.slice(0, 5).map(({ from, to }) => (
          <ActForm
            act="reindex"
            label={`Dry run of the gap ${grouped(from)} to ${grouped(to)}`}
            needs="operator"
            fields={{ chain: chainId, from, to }}
          />
        ))}
      </div>
    </ForRole>
  )
}

function BlockField(props: {
  name: 'from' | 'to'
  label: string
  chainId: number
  required?: boolean
  placeholder?: string
}) {
  const { name, label, chainId, required, placeholder } = props
  const id = `${name}-${chainId}`
  return (
    <label for={id}>
      <span>{label}</span>
      <input
        id={id}
        name={name}
        inputmode="numeric"
        pattern="\d{1,15}"
        required={required}
        placeholder={placeholder}
        autocomplete="off"
      />
    </label>
  )
}

/** Blocks between the stored ranges, newest first. */
export function gapsOf(proofs: readonly ProvenRange[]): { readonly from: number; readonly to: number }[] {
  return proofs.flatMap((newer, index) => {
    const older = proofs[index + 1]
    return older !== undefined && older.to + 1 < newer.from ? [{ from: older.to + 1, to: newer.from - 1 }] : []
  })
}

/** Fields `chain`, `from`, `to` (else the last indexed block), `repair`: `yes` writes. Leads to the job. */
export const reindexAct: Act = {
  needs: 'operator',
  async run({ fields, commands, jobs, visit, service }) {
    const [chainId, from] = [wholeOf('Chain', fields['chain'] ?? ''), wholeOf('First block', fields['from'] ?? '')]
    const checkpoint = await service.queries.checkpoint(chainId)
    if (checkpoint === null) throw new ActError(`Nothing of chain ${chainId} is indexed.`)
    const newest = checkpoint.blockNumber
    const to = fields['to'] === undefined ? newest : wholeOf('Last block', fields['to'])
    if (from > to) throw new FilterError(`First block ${from} is above last block ${to}; exchange them.`)
    if (to > newest) throw new FilterError(`Block ${to} is not indexed yet; the newest indexed one is ${newest}.`)
    const repair = fields['repair'] === 'yes'
    const range = { chainId, from, to }
    const job = jobs.start({
      title: `${repair ? 'Repair' : 'Dry run'} of chain ${chainId}, blocks ${grouped(from)} to ${grouped(to)}`,
      actor: visit.actor,
      total: to - from + 1,
      run: (report, signal) =>
        work(commands.chains.reindex({ ...range, repair }, signal), { ...range, repair }, report),
    })
    return { to: jobPath(job) }
  },
}

type Range = { readonly chainId: number; readonly from: number; readonly to: number; readonly repair: boolean }

async function work(reports: AsyncIterable<ReindexReport>, range: Range, report: JobReport): Promise<void> {
  const { chainId, from, to, repair } = range
  let [differences, repaired] = [0, 0]
  for await (const found of reports) {
    for (const { kind, txHash, ordinal, fields = [] } of found.differences)
      report.row({
        word: kind,
        tone: found.repaired ? 'good' : 'bad',
        text: `${txHash}, payment ${ordinal}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`,
        // A missing payment has a page only after the repair.
        ...(kind === 'missing' && !found.repaired ? {} : { path: paymentPath({ chainId, txHash }) }),
      })
    differences += found.differences.length
    repaired += found.repaired ? found.differences.length : 0
    const done = found.range.to - from + 1
    report({ done, words: sentenceOf({ done, differences, repaired, repair }) })
  }
  if (!repair) report({ next: repairOf({ chainId, from, to }) })
}

interface Totals {
  readonly done: number
  readonly differences: number
  readonly repaired: number
  readonly repair: boolean
}

function sentenceOf({ done, differences, repaired, repair }: Totals): string {
  const read = `${grouped(done)} ${done === 1 ? 'block' : 'blocks'} read and proven`
  if (differences === 0) return `${read}, everything is as stored.`
  const found = `${grouped(differences)} ${differences === 1 ? 'difference' : 'differences'}`
  return `${read}, ${found}, ${repair ? `${grouped(repaired)} repaired` : 'nothing was written'}.`
}

function repairOf(fields: { readonly chainId: number; readonly from: number; readonly to: number }): NextAct {
  const { chainId: chain, from, to } = fields
  return { act: 'reindex', label: 'Read them again and repair', fields: { chain, from, to, repair: 'yes' } }
}
