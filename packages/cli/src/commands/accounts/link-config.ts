/** From flags or a file to a link configuration. Source: INTERFACE 2.4 (link configuration shapes). @module */
import type { AccountInput } from '@payment-integration/core'
import { UsageError } from '../../errors.js'
import type { Io } from '../../io.js'
import type { AcceptedTokens } from '../../parse/accepted-tokens.js'
import type { ChainAddress } from '../../parse/chain-address.js'
import { readJson } from './read-json.js'

/** What a payment link accepts. */
export type LinkConfig = AccountInput['config']

/** Flags that describe a whole link configuration: either `config`, or the others. */
export interface LinkConfigFlags {
  /** A JSON file, or `-` for standard input. */
  readonly config?: string | undefined
  /** Tokens by chain. Several about one chain add up. */
  readonly accept?: readonly AcceptedTokens[] | undefined
  /** Where payments on a chain go instead of the account's own address; one per chain, and only where `accept` names the chain. */
  readonly defaultAddress?: readonly ChainAddress[] | undefined
  /** Where the payer is sent afterwards. */
  readonly redirect?: string | undefined
  /** When the payer's window closes afterwards, in milliseconds. */
  readonly closeAfter?: number | undefined
}

/**
 * The configuration that the flags describe, or undefined when there is no such flag. What a file holds is checked where it is
 * stored, not here.
 * @throws UsageError `ERR_USAGE` for flags that contradict each other, and for a file that cannot be read or is not JSON;
 * InterruptedError `ERR_INTERRUPTED`.
 */
export async function readLinkConfig(flags: LinkConfigFlags, io: Io): Promise<LinkConfig | undefined> {
  const { config, accept, defaultAddress, redirect, closeAfter } = flags
  const partial = defaultAddress !== undefined || redirect !== undefined || closeAfter !== undefined
  if (config !== undefined) {
    if (accept !== undefined || partial)
      throw new UsageError('--config holds a whole configuration; leave the other flags about it out.')
    return (await readJson(config, io)) as LinkConfig
  }
  if (redirect !== undefined && closeAfter !== undefined)
    throw new UsageError('--redirect and --close-after exclude each other; leave one of both out.')
  if (accept === undefined) {
    if (!partial) return undefined
    throw new UsageError('These flags describe a whole configuration; add what is accepted with --accept.')
  }
  const onCompleteAction = actionOf(redirect, closeAfter)
  return { coins: coinsOf(accept, defaultAddress ?? []), ...(onCompleteAction && { onCompleteAction }) }
}

function coinsOf(accept: readonly AcceptedTokens[], addresses: readonly ChainAddress[]): LinkConfig['coins'] {
  const symbols = new Map<number, Set<string>>()
  for (const each of accept) symbols.set(each.chainId, new Set([...(symbols.get(each.chainId) ?? []), ...each.symbols]))
  const byChain = new Map(addresses.map(({ chainId, address }) => [chainId, address]))
  if (byChain.size < addresses.length) throw new UsageError('--default-address names a chain twice; name each once.')
  const other = [...byChain.keys()].find((chainId) => !symbols.has(chainId))
  if (other !== undefined)
    throw new UsageError(
      `--default-address is about chain ${other}, on which nothing is accepted; add it with --accept.`,
    )
  return [...symbols].map(([chainId, names]) => {
    const defaultAddress = byChain.get(chainId)
    const tokens = [...names].map((symbol) => ({ symbol }))
    return { chainId, ...(defaultAddress !== undefined && { defaultAddress }), tokens }
  })
}

function actionOf(redirect: string | undefined, closeAfter: number | undefined): LinkConfig['onCompleteAction'] {
  if (redirect !== undefined) return { type: 'REDIRECT', payload: { url: redirect } }
  if (closeAfter !== undefined) return { type: 'CLOSE_WINDOW', payload: { delayMilliseconds: closeAfter } }
  return undefined
}
