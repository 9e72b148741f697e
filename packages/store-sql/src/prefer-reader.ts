/** Sends reads that may be stale to a standby. Source: docs/decisions/stale-reads.md. @module */
import { StoreError } from '@payment-integration/core'
import type { ConsoleReads, PaymentReads } from '@payment-integration/core/ports'
import type { Reader } from './engine.js'

type Read<Query, Result> = (query: Query) => Promise<Result>

/**
 * The reads of payments that an integrator asks for. A later page is read from the primary: the standby may lack a
 * payment that the first page's moment had. A payment that the standby lacks is looked for on the primary.
 */
export function preferReaderForPayments(primary: PaymentReads, standby: PaymentReads, reader: Reader): PaymentReads {
  const list = preferred(reader, primary.list, standby.list)
  const findByHash = preferred(reader, primary.findByHash, standby.findByHash, (found) => found.length > 0)
  const transaction = preferred(reader, primary.transaction, standby.transaction, isSettled)
  return {
    ...primary,
    list: (query) => (query.after === undefined ? list(query) : primary.list(query)),
    findByHash,
    transaction,
  }
}

/** Whether the standby may answer: a payment that left the chain there may be on it again. */
function isSettled({ payments }: Awaited<ReturnType<PaymentReads['transaction']>>): boolean {
  return payments.length > 0 && payments.every(({ offChain, dropped }) => !offChain && dropped === null)
}

/** The listings of the console. Its live page and small tables stay on the primary. */
export function preferReaderForConsole(primary: ConsoleReads, standby: ConsoleReads, reader: Reader): ConsoleReads {
  const payments = preferred(reader, primary.payments, standby.payments)
  const deliveries = preferred(reader, primary.deliveries, standby.deliveries)
  return { ...primary, payments, deliveries }
}

/** Reads from a fresh standby, and from the primary after an error there or without a result that `isEnough`. */
function preferred<Query, Result>(
  reader: Reader,
  ofPrimary: Read<Query, Result>,
  ofStandby: Read<Query, Result>,
  isEnough: (result: Result) => boolean = () => true,
): Read<Query, Result> {
  return async (query) => {
    if (!reader.isFresh()) return ofPrimary(query)
    try {
      const result = await ofStandby(query)
      if (isEnough(result)) return result
    } catch (error) {
      // A read of a standby may also be cancelled, because it is in the way of what the primary removed.
      if (error instanceof StoreError) reader.distrust()
    }
    return ofPrimary(query)
  }
}
