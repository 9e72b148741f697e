/** The list of payments, and its search by hash, wallet, memo or invoice. @module */
import type { Queries } from '@payment-integration/core'
import { type ConsolePaymentFilter, decodeMemo, matchesConsoleFilter } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { formatPosition, isHash, parsePosition, parseSearch, paymentFilter } from '../filters.js'
import { ForRole } from '../view/forms.js'
import { buildHref, Copyable, Empty, paymentPath, Shown } from '../view/parts.js'
import { type Choices, FilteredList, listFields, paymentRows, stateField } from '../view/rows.js'
import { ExportLinks } from '../web/export.js'
import { buildTopic, describeIndexed, type Load, type PageDeps, pageSize, readChoices } from './page.js'
import { TestPayment } from './tools.js'

const section = '/payments'

export const paymentsPage: Load = async (deps, query) => {
  const { queries, indexers } = deps.service
  const { before: position, ...values } = query
  const filter = paymentFilter(query)
  const before = parsePosition(position)
  const { q } = query
  const { invoice } = parseSearch(q ?? '')
  const result = q === undefined || invoice !== undefined ? null : await search(queries, q, filter, pageSize)
  const only = result?.notes.length === 0 ? findOnly(result.payments, q) : undefined
  if (only !== undefined) return { goTo: paymentPath(only) }
  const page =
    result === null
      ? await queries.payments({ ...filter, invoice, before, limit: pageSize })
      : { rows: result.payments, next: null, isCut: false }
  const choices = await readChoices(deps)
  const body = (
    <FilteredList
      {...{ title: 'Payments', toHref: buildHref, section, values, ...page, ...paymentRows }}
      examined="5,000 payments"
      fields={[stateField, ...listFields(choices, query, true)]}
      next={page.next && formatPosition(page.next)}
      position={['before', position]}
      empty={
        Object.keys(query).length > 0 ? <NoMatch text={q} indexers={indexers} /> : <NoPayments {...{ deps, choices }} />
      }
    >
      {q === undefined ? (
        <ForRole needs="operator">
          <ExportLinks toHref={(ending) => buildHref(section + ending, values)} />
        </ForRole>
      ) : (
        <SearchText text={q} notes={result?.notes} />
      )}
    </FilteredList>
  )
  const live = before === undefined && q === undefined ? buildTopic('payments', query) : undefined
  return { title: 'Payments', section, body, live, search: q }
}

/** The only payment of a search for a hash or a whole memo. */
export function findOnly([only, ...others]: readonly StoredPayment[], text: string | undefined) {
  const isWhole = only !== undefined && (isHash(text) || decodeMemo(only.memoHex) === text)
  return isWhole && others.length === 0 ? only : undefined
}

const searchedBy = {
  txHash: 'with the hash',
  wallet: 'with the wallet',
  invoice: 'with the invoice',
  memo: 'whose memo begins with',
} as const

/** Says what was searched. @param props.notes - Sentences about payments that were left out. */
export function SearchText({ text, notes = [] }: { text: string; notes?: readonly string[] | undefined }) {
  const [kind] = Object.keys(parseSearch(text)) as [keyof typeof searchedBy]
  return (
    <p class="dim">
      Payments {searchedBy[kind]}{' '}
      <code class="whole">
        <Shown text={text} max={80} />
      </code>
      . {notes.join(' ')}
    </p>
  )
}

const NoMatch = ({ text = '', indexers }: { text?: string | undefined; indexers: PageDeps['service']['indexers'] }) => (
  <Empty title={isHash(text) ? 'No payment with this hash.' : 'No payment matches.'}>
    {isHash(text) ? <p>A payment appears when its block is indexed: {describeIndexed(indexers)}.</p> : null}
    <p>
      <a href={buildHref(section)}>Show all payments</a>. A memo is found by its beginning, an invoice by its amount and
      currency, such as <code>25.00 EUR</code>.
    </p>
  </Empty>
)

const NoPayments = ({ deps: { url, tools }, choices }: { deps: PageDeps; choices: Choices }) => (
  <Empty title="No payment is indexed yet.">
    <p>Integrations read their payments like this:</p>
    <Copyable
      label="A request for payments"
      text={`curl -s -u "$INTEGRATION:$API_SECRET" ${url.origin}/api/v1/integration/payments`}
    />
    <TestPayment tools={tools} integration={choices.integrations[0]} />
  </Empty>
)

const walletNote =
  'Payments without a registered integration are not searched by wallet, and at most 1,000 integrations are.'

type Reads = Pick<Queries, 'search'>

/** Searches up to the limit, then applies the page's filters. The notes say which payments may be left out. */
export async function search(reads: Reads, text: string, filter: ConsolePaymentFilter, limit: number) {
  const { rows, firstRows, hint } = await readMatches(reads, text, filter, limit)
  const cut = `More than ${limit} payments match the search: only ${firstRows} are filtered and shown; ${hint}.`
  const isPartOfWallet = parseSearch(text).wallet !== undefined && typeof filter.integrationAddress !== 'string'
  const payments = rows.slice(0, limit).filter((payment) => matchesConsoleFilter(payment, filter))
  return {
    payments: payments.sort((a, b) => b.blockTimestamp - a.blockTimestamp),
    notes: [...(rows.length > limit ? [cut] : []), ...(isPartOfWallet ? [walletNote] : [])],
  }
}

/** Reads at most one row above the limit. `firstRows` names the rows that remain; `hint` says how to find others. */
async function readMatches(reads: Reads, text: string, { integrationAddress }: ConsolePaymentFilter, limit: number) {
  const { txHash, wallet, memo = '' } = parseSearch(text)
  const read = (query: Parameters<Reads['search']>[0]) => reads.search(query, limit + 1)
  if (txHash !== undefined) {
    const matches = await Promise.all([read({ kind: 'hash', txHash }), read({ kind: 'memo', prefix: txHash })])
    const rows = [...new Map(matches.flat().map((row) => [row.id, row])).values()]
    return { rows, firstRows: `the first ${limit}`, hint: 'the legacy look-up shows a transaction' }
  }
  if (wallet !== undefined) {
    const rows = integrationAddress === null ? [] : await read({ kind: 'wallet', wallet, integrationAddress })
    return { rows, firstRows: `the newest ${limit}`, hint: 'choose an integration to find others' }
  }
  const rows = await read({ kind: 'memo', prefix: memo })
  return { rows, firstRows: `the first ${limit} by memo`, hint: 'a longer beginning of the memo finds others' }
}
