/** Options that choose deliveries, and the filter that they describe. @module */
import type { DeliveryFilter, DeliveryStatus } from '@payment-integration/core/ports'
import type { Command } from 'commander'
import { UsageError } from '../../errors.js'
import type { Io } from '../../io.js'
import { momentParser, parseAddress, parseChainId, parseTxHash } from '../../parse.js'

/** Options that choose deliveries. A delivery must match all that are given. */
export interface FilterOptions {
  /** Integration address. */
  readonly integration?: string | undefined
  readonly chain?: number | undefined
  /** Transaction hash. */
  readonly tx?: string | undefined
  readonly status?: DeliveryStatus | undefined
  /** Created at this unix time in milliseconds, or later. */
  readonly since?: number | undefined
  /** Created before this unix time in milliseconds. */
  readonly until?: number | undefined
}

/** Adds the options to a command, except `--status`. */
export function withFilters(command: Command, io: Io): Command {
  const parseMoment = momentParser(io.now)
  return command
    .option('--integration <address>', 'only deliveries to this integration', parseAddress)
    .option('--chain <id>', 'only deliveries of payments on this chain', (text) => parseChainId(text))
    .option('--tx <hash>', 'only deliveries of payments in this transaction', parseTxHash)
    .option('--since <time>', 'created then or later: 2026-03-01T09:30Z, or 2h for two hours ago', parseMoment)
    .option('--until <time>', 'created before this time', parseMoment)
}

/**
 * The filter that the options describe.
 * @throws UsageError `ERR_USAGE` when `since` is not before `until`.
 */
export function filterOf({ integration, chain, tx, status, since, until }: FilterOptions): DeliveryFilter {
  if (since !== undefined && until !== undefined && since >= until)
    throw new UsageError('--since is not before --until, so no delivery can match; exchange them.')
  return { integrationAddress: integration, chainId: chain, txHash: tx, status, since, until }
}

/** Whether no option is given, so that every delivery matches. */
export function isUnfiltered({ integration, chain, tx, status, since, until }: FilterOptions): boolean {
  return [integration, chain, tx, status, since, until].every((each) => each === undefined)
}
