/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Chains: how far each is indexed, how it is proven, and its nodes. @module */
import type { ChainStatus } from '@payment-integration/core'
import type { ProvenRange, RouterCoverage } from '@payment-integration/core/ports'
import { Badge, Cell, Empty, Hex, hrefOf, Shown, Table, When } from '../view/parts.js'
import { grouped, latencyOf } from '../view/text.js'
import { gapsOf } from './gaps.js'
import { ReindexForm } from './reindex-form.js'
import { Reorganisations } from './reorganisations.js'

/** A chain with its stored ranges. */
export interface ChainDetail {
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
        {proofs.slice(0, 20).map(({ from, to, proof, endpoint }) => (
          <tr>
            <Cell of="From">{grouped(from)}</Cell>
            <Cell of="To" isNumber>
              {grouped(to)}
            </Cell>
            <Cell of="Proof">
              <Badge word={proof} />
            </Cell>
            <Cell of="Node">
              <Shown text={endpoint} />
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
      {status.endpoints.map((node) => (
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
