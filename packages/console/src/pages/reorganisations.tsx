/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The reorganisations of a chain that this process followed. @module */
import type { ChainStatus } from '@payment-integration/core'
import { Cell, Table, When } from '../view/parts.js'
import { grouped } from '../view/text.js'

/** Their times and depths, newest first. */
export function Reorganisations({ chainId, reorganisations, newestReorganisations }: ChainStatus) {
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
