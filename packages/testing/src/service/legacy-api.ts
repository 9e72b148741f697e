/** Answers look-up and verify. Source: docs/interface.md 4.3. @module */
import {
  type Account,
  currencyCodePattern,
  type Lookup,
  lookupWriteSchema,
  type VerificationError,
  type VerifyRequest,
  verificationErrors,
  verifyRequestLimits,
  verifyRequestSchema,
  verifyWriteSchema,
} from '@payment-integration/contract'
import { answer, type LegacyFlaw, refuseLegacy } from './answers.js'
import { encodingFlaw, readJson } from './read-json.js'

type Item = Lookup['payments'][number]

/** Transactions and accounts of the legacy API. */
export interface LegacyState {
  /** Stores a transaction, or replaces the one of its chain and hash. */
  record(lookup: Lookup): void
  /** Stores an account, so that verify can resolve its handle. */
  addAccount(account: Account): void
  find(chainId: number, txHash: string): Lookup | undefined
  account(text: string): Account | undefined
}

/** Makes an empty one. */
export function createLegacyState(): LegacyState {
  const transactions = new Map<string, Lookup>()
  const accounts: Account[] = []
  const nameOf = (chainId: number, txHash: string) => `${chainId} ${txHash.toLowerCase()}`
  return {
    record: (lookup) => void transactions.set(nameOf(lookup.chainId, lookup.txHash), lookupWriteSchema.parse(lookup)),
    addAccount: (account) => void accounts.push(account),
    find: (chainId, txHash) => transactions.get(nameOf(chainId, txHash)),
    account: (text) =>
      accounts.find(({ address, handle }) =>
        [address, handle].some((name) => name.toLowerCase() === text.toLowerCase()),
      ),
  }
}

/** Answers a look-up: 400 with every flaw of the path, 404, or all payments of the transaction. */
export function lookup(state: LegacyState, chainId: string, txHash: string): Response {
  const flaws = [
    ...flawIf(!/^[1-9][0-9]{0,14}$/.test(chainId), 'chainId', 'must be a positive whole number in decimal digits'),
    ...hashFlaw(txHash),
  ]
  if (flaws.length > 0) return refuseLegacy(flaws)
  const found = state.find(Number(chainId), txHash)
  return found === undefined ? notInSystem() : answer(found)
}

/** Answers verify: 200 when every payment matches, else 409 with the same body and the reasons. */
export async function verify(state: LegacyState, request: Request): Promise<Response> {
  const flaw = encodingFlaw(request)
  if (flaw !== null) return refuseLegacy([{ code: 'invalid_encoding', message: flaw, path: [] }])
  const body = verifyRequestSchema.safeParse(await readJson(request))
  if (!body.success)
    return refuseLegacy(
      body.error.issues.map(({ message, path }) => ({ code: 'invalid_type', message, path: path.map(String) })),
    )
  const flaws = flawsOf(body.data)
  if (flaws.length > 0) return refuseLegacy(flaws)
  const found = state.find(body.data.chainId, body.data.txHash)
  if (found === undefined) return notInSystem()
  const payments = found.payments.map((payment) => {
    const reasons = reasonsAgainst(state, found.chainId, payment, body.data)
    return { ...payment, verified: reasons.length === 0, verificationErrors: reasons }
  })
  const isVerified = payments.every(({ verified }) => verified)
  return answer(verifyWriteSchema.parse({ ...found, payments }), isVerified ? 200 : 409)
}

/** The reasons why a payment does not match, in the order of docs/interface.md 4.3. */
function reasonsAgainst(
  state: LegacyState,
  chainId: number,
  payment: Item,
  request: VerifyRequest,
): VerificationError[] {
  const isAddress = /^0x[0-9a-fA-F]{40}$/.test(request.address)
  const account = state.account(request.address)
  const coin = account?.config.coins.find((each) => each.chainId === chainId)
  const receiver = isAddress ? request.address : (coin?.defaultAddress ?? account?.address)
  const matches: Record<VerificationError, boolean> = {
    'Payment does not match link configuration':
      account === undefined || coin?.tokens.some(({ symbol }) => symbol === payment.tokenSymbol) === true,
    'Invalid payment address': receiver?.toLowerCase() === payment.receiver.toLowerCase(),
    'Invalid payment currency': payment.invoiceCurrency === request.invoiceCurrency,
    'Invalid payment amount': shortest(payment.invoiceAmount) === shortest(String(request.invoiceAmount)),
  }
  return verificationErrors.filter((reason) => !matches[reason])
}

function flawsOf({ chainId, txHash, invoiceAmount, invoiceCurrency, address }: VerifyRequest): LegacyFlaw[] {
  const amount = String(invoiceAmount)
  return [
    ...flawIf(chainId < 1, 'chainId', 'must be a positive whole number in decimal digits'),
    ...hashFlaw(txHash),
    ...flawIf(
      !/^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(amount) || amount.length > verifyRequestLimits.invoiceAmount,
      'invoiceAmount',
      'must be a plain decimal such as 12.50',
    ),
    ...flawIf(
      !currencyCodePattern.test(invoiceCurrency),
      'invoiceCurrency',
      'must be a currency code in capital letters',
    ),
    ...flawIf(
      address === '' || address.length > verifyRequestLimits.address,
      'address',
      'must be an address or an account handle',
    ),
  ]
}

function hashFlaw(txHash: string): LegacyFlaw[] {
  const isHash = /^0x[0-9a-fA-F]{64}$/.test(txHash)
  return flawIf(!isHash, 'txHash', 'must start with 0x and have a fixed length of 66 characters, 64 of them hex digits')
}

function flawIf(isFlawed: boolean, name: string, message: string): LegacyFlaw[] {
  return isFlawed ? [{ code: 'invalid_format', message: `${name} ${message}`, path: [name] }] : []
}

function notInSystem(): Response {
  return answer({ error: 'Transaction not found' }, 404)
}

/** Equal decimals have equal text. */
function shortest(decimal: string): string {
  if (!decimal.includes('.')) return decimal
  let end = decimal.length
  while (decimal[end - 1] === '0') end -= 1
  return decimal.slice(0, decimal[end - 1] === '.' ? end - 1 : end)
}
