/** @jsxRuntime automatic @jsxImportSource hono/jsx */
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
type Verified = Awaited<ReturnType<Legacy['verify']>>

/** The most characters shown of an answer. */
const maxCharacters = 20_000

type LegacyAnswer =
  | { readonly status: 200; readonly lookup: Awaited<ReturnType<Legacy['lookup']>> }
  | ({ readonly status: 200 | 409 } & Verified)
  | { readonly status: 400; readonly error: InvalidLegacyRequestError }
  | { readonly status: 404 }

/** Looks up the transaction in the form; null: the form is empty. @throws FilterError When the chain is no number. */
async function legacyAnswer(legacy: Legacy, query: QueryFields): Promise<LegacyAnswer | null> {
  const { chain = '', hash = '', amount = '', currency = '', payee = '' } = query
  if (chain === '' && hash === '') return null
  try {
    if (amount === '' && currency === '' && payee === '')
      return { status: 200, lookup: await legacy.lookup({ chainId: chain, txHash: hash }) }
    const chainId = parseWholeNumber('chain', chain)
    const invoice = { invoiceAmount: amount, invoiceCurrency: currency, address: payee }
    const answer = await legacy.verify({ chainId, txHash: hash, ...invoice })
    return { status: answer.verified ? 200 : 409, ...answer }
  } catch (error) {
    if (error instanceof InvalidLegacyRequestError) return { status: 400, error }
    if (error instanceof TransactionNotFoundError) return { status: 404 }
    throw error
  }
}

const fields = [
  { name: 'chain', label: 'Chain', hint: '137' },
  { name: 'hash', label: 'Transaction', hint: '0x…', type: 'search' },
  { name: 'amount', label: 'Invoice amount', hint: '25.00' },
  { name: 'currency', label: 'Invoice currency', hint: 'EUR' },
  { name: 'payee', label: 'Receiver', hint: 'address or handle' },
] as const

export const legacyPage: Load = async ({ service }, query) => {
  const answer = await legacyAnswer(service.legacy, query)
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
      {answer === null ? null : <Answered answer={answer} />}
    </>
  )
  return { title: 'Legacy look-up', section: '/legacy', body }
}

function Answered({ answer }: { answer: LegacyAnswer }) {
  if (answer.status === 404)
    return (
      <Empty title="404: the transaction is not in the system.">
        <p>It may be on another chain, not indexed yet, or not a payment.</p>
      </Empty>
    )
  if ('error' in answer)
    return (
      <Empty title="400: the request is malformed.">
        {answer.error.details.map(({ message, path }) => (
          <p>
            <code>{path.join('.')}</code>: <Shown text={message} max={400} />
          </p>
        ))}
      </Empty>
    )
  const isLookup = 'lookup' in answer
  const body = isLookup ? answer.lookup : answer.result
  const payments = body.payments as readonly Item[]
  return (
    <>
      <h2>Result</h2>
      <p>{isLookup ? `The transaction has ${formatCount(payments.length, 'payment')}.` : showVerdict(answer)}</p>
      <Table
        label="Payments of the transaction"
        rows={payments}
        columns={[
          ['Check', (item) => (isLookup ? <Dim>not verified</Dim> : verdictCell(item))],
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
      <h2>Response body, status {answer.status}</h2>
      <Pre label="The answer as JSON" text={showText(JSON.stringify(body, null, 2), maxCharacters)} />
    </>
  )
}

const showVerdict = ({ verified }: Verified) =>
  verified
    ? 'Verified: every payment of the transaction matches the invoice.'
    : 'Not verified: the invoice does not match every payment of the transaction.'

function verdictCell(item: Item & { readonly verificationErrors?: readonly string[] }): Child {
  const { verificationErrors: errors = [] } = item
  // The interface's error texts are long and must wrap; a badge does not wrap.
  return errors.length === 0 ? <Badge word="matches" tone="good" /> : <span class="bad">{errors.join('; ')}</span>
}
