/** The legacy look-up and verification of a transaction, explained and as JSON. @module */
import { InvalidLegacyRequestError, type Service, TransactionNotFoundError } from '@payment-integration/core'
import type { Child } from 'hono/jsx'
import { parseWholeNumber, type QueryFields } from '../filters.js'
import { Filters } from '../view/forms.js'
import { Badge, buildHref, Dim, Empty, Hex, Pre, Shown, Table } from '../view/parts.js'
import { formatCount, showText } from '../view/text.js'
import type { Load } from './page.js'

type Legacy = Service['legacy']
type Item = Awaited<ReturnType<Legacy['lookup']>>['payments'][number]

/** The most characters shown of an answer. */
const maxCharacters = 20_000

const fields = [
  { name: 'chain', label: 'Chain', hint: '137' },
  { name: 'hash', label: 'Transaction', hint: '0x…', type: 'search' },
  { name: 'amount', label: 'Invoice amount', hint: '25.00' },
  { name: 'currency', label: 'Invoice currency', hint: 'EUR' },
  { name: 'payee', label: 'Receiver', hint: '0x… or handle' },
] as const

export const legacyPage: Load = async ({ service }, query) => {
  const answer = await showAnswer(service.legacy, query)
  const body = (
    <>
      <h1>Legacy look-up</h1>
      <Filters action={buildHref('/legacy')} fields={fields} values={query} />
      <p class="dim">
        Shows what the legacy API answers for a transaction. Enter chain and transaction to look it up; add amount,
        currency and receiver to verify it against that invoice. Amounts cover the whole transaction, fees included. The
        invoice shown here is proven by the transaction alone, or empty; Payments shows the invoice that the merchant's
        processor sent.
      </p>
      {answer}
    </>
  )
  return { title: 'Legacy look-up', section: '/legacy', body }
}

/** Shows the answer for the form; null: the form is empty. @throws FilterError When the chain is no number. */
async function showAnswer(legacy: Legacy, query: QueryFields): Promise<Child> {
  const { chain = '', hash = '', amount = '', currency = '', payee = '' } = query
  if (chain === '' && hash === '') return null
  try {
    if (amount === '' && currency === '' && payee === '') {
      const body = await legacy.lookup({ chainId: chain, txHash: hash })
      const summary = `The transaction has ${formatCount(body.payments.length, 'payment')}.`
      return <Result {...{ status: 200, body, summary }} check={() => <Dim>not verified</Dim>} />
    }
    const invoice = { invoiceAmount: amount, invoiceCurrency: currency, address: payee }
    const answer = await legacy.verify({ chainId: parseWholeNumber('chain', chain), txHash: hash, ...invoice })
    const { verified, result: body } = answer
    const summary = verified
      ? 'Verified: every payment of the transaction matches the invoice.'
      : 'Not verified: the invoice does not match every payment of the transaction.'
    return <Result {...{ status: verified ? 200 : 409, body, summary }} check={showVerdict} />
  } catch (error) {
    if (error instanceof TransactionNotFoundError)
      return (
        <Empty title="404: the transaction is not in the system.">
          <p>It may be on another chain, not indexed yet, or not a payment.</p>
        </Empty>
      )
    if (!(error instanceof InvalidLegacyRequestError)) throw error
    return (
      <Empty title="400: the request is malformed.">
        {error.details.map(({ message, path }) => (
          <p>
            <code>{path.join('.')}</code>: <Shown text={message} max={400} />
          </p>
        ))}
      </Empty>
    )
  }
}

function Result(props: {
  readonly status: number
  readonly body: { readonly payments: readonly object[] }
  readonly summary: string
  readonly check: (item: Item) => Child
}) {
  const { status, body, summary, check } = props
  return (
    <>
      <h2>Result</h2>
      <p>{summary}</p>
      <Table
        label="Payments of the transaction"
        rows={body.payments as readonly Item[]}
        columns={[
          ['Check', check],
          ['Paid net', (item) => <Shown text={`${item.tokenAmountNet.formatted} ${item.tokenSymbol}`} max={100} />],
          ['Fees', (item) => <Shown text={item.totalFees.formatted} max={100} />],
          ['Receiver', (item) => <Hex value={item.receiver} />],
          [
            'Invoice',
            (item) => <Shown text={`${item.invoiceAmount} ${item.invoiceCurrency}`.trim() || 'none'} max={100} />,
          ],
          ['Memo', (item) => <Shown text={item.memo} max={100} />],
          ['Final', (item) => (item.final ? 'yes' : 'not yet')],
        ]}
      />
      <h2>Response body, status {status}</h2>
      <Pre label="The answer as JSON" text={showText(JSON.stringify(body, null, 2), maxCharacters)} />
    </>
  )
}

function showVerdict(item: Item & { readonly verificationErrors?: readonly string[] }): Child {
  const { verificationErrors: errors = [] } = item
  // The interface's error texts are long and must wrap; a badge does not wrap.
  return errors.length === 0 ? <Badge word="matches" tone="good" /> : <span class="bad">{errors.join('; ')}</span>
}
