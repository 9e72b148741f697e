/**
 * Finds the integration of each payment of a transaction. Source: docs/decisions/integration-address-on-chain.md.
 *
 * In a bundle of user operations it is the suffix of the paying operation's callData, because the transaction's own
 * calldata is the bundler's. A bundle that reaches the EntryPoint through another contract cannot be read, so its
 * payments have no integration. In any other transaction it is the suffix of the calldata.
 * @module
 */
import type { ReceiptFacts, ReceiptLog, TransactionFacts } from '../internal/answers.js'
import { countOperations, enclosingOperations, lastOperation } from './enclosing-operations.js'
import { isBundle, readBundle } from './read-bundle.js'

/** Reads the integration address that calldata names, or null. */
export type ReadSuffix = (calldata: string) => string | null

type Call = Pick<TransactionFacts, 'to' | 'input'>

/**
 * Whether the receipt decides about the integrations of a transaction. It does for a bundle, and for a call of another
 * contract than a router whose calldata has an integration.
 */
export function namesByReceipt({ to, input }: Call, isRouter: boolean, readSuffix: ReadSuffix): boolean {
  return to !== null && !isRouter && (isBundle(input) || readSuffix(input) !== null)
}

/**
 * The integrations, one per payment.
 * @param places - Where the payments are in the receipt's logs; see `placePayments`.
 * @param receipt - Given where {@link namesByReceipt} says that it decides, else null.
 * @returns Addresses, lowercased, or null.
 */
export function nameIntegrations(
  { to, input }: Call,
  places: readonly number[],
  receipt: Pick<ReceiptFacts, 'logs'> | null,
  readSuffix: ReadSuffix,
): readonly (string | null)[] {
  if (receipt === null || to === null) return places.map(() => readSuffix(input))
  const { logs } = receipt
  if (isBundle(input)) return ofBundle({ to, input }, places, logs, readSuffix)
  const named = readSuffix(input)
  const last = lastOperation(logs)
  return places.map((place) => (place < last ? null : named))
}

function ofBundle(
  { to, input }: { readonly to: string; readonly input: string },
  places: readonly number[],
  logs: readonly ReceiptLog[],
  readSuffix: ReadSuffix,
): readonly (string | null)[] {
  const operations = readBundle(input, countOperations(logs, to))
  if (operations === null) return places.map(() => null)
  return enclosingOperations(logs, places, to, operations).map(
    (operation) => operation && readSuffix(operation.callData),
  )
}
