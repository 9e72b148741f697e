/** Which deliveries a command is about. @module */
import type { DeliveryFilter, DeliveryStatus } from '@payment-integration/core/ports'
import { UsageError } from '../../errors.js'

/** Options that choose deliveries. A delivery must fit all that are given. */
export interface FilterOptions {
  /** Integration address. */
  readonly integration?: string | undefined
  readonly chain?: number | undefined
  /** Transaction hash. */
  readonly tx?: string | undefined
  readonly status?: DeliveryStatus | undefined
  /** Made at this unix time in milliseconds, or later. */
  readonly since?: number | undefined
  /** Made before it. */
  readonly until?: number | undefined
}

/**
 * The filter that the options describe.
 * @throws UsageError `ERR_USAGE` when no moment lies between `since` and `until`.
 */
export function filterOf({ integration, chain, tx, status, since, until }: FilterOptions): DeliveryFilter {
  if (since !== undefined && until !== undefined && since >= until)
    throw new UsageError('--since is not before --until, so no delivery lies between them; exchange them.')
  return { integrationAddress: integration, chainId: chain, txHash: tx, status, since, until }
}

/** Whether nothing is chosen, so that every delivery fits. */
export function choosesNothing(options: FilterOptions): boolean {
  const { integration, chain, tx, status, since, until } = options
  return [integration, chain, tx, status, since, until].every((each) => each === undefined)
}
