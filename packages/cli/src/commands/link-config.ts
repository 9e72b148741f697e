/** Builds a link configuration from options or a JSON file. Source: docs/interface.md 2.4. @module */
import { isUtf8 } from 'node:buffer'
import { parseForeignJson } from '@payment-integration/contract/parse'
import type { AccountInput } from '@payment-integration/core'
import type { Config } from '@payment-integration/server/service'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'
import type { AcceptedTokens, ChainAddress } from '../parse.js'
import { inputName, readInput } from '../read-input.js'

/** The chains and tokens that a payment link accepts, and the action after a payment. */
export type LinkConfig = AccountInput['config']

/** Options that describe a whole link configuration: either `config`, or the others. */
export interface LinkConfigFlags {
  /** A JSON file, or `-` for standard input. */
  readonly config?: string | undefined
  /** Accepted tokens; several values for one chain add up. */
  readonly accept?: readonly AcceptedTokens[] | undefined
  /** Addresses that are paid instead of the account's address: at most one for each chain of `accept`. */
  readonly defaultAddress?: readonly ChainAddress[] | undefined
  /** URL to which the payer is sent after the payment. */
  readonly redirect?: string | undefined
  /** Time from the payment until the payer's window closes, in milliseconds. */
  readonly closeAfter?: number | undefined
}

/**
 * The configuration that the options describe, or undefined without options. The service checks a file's content.
 * @throws UsageError `ERR_USAGE` for options that contradict each other, and for a file that is unreadable or not JSON;
 * InterruptedError `ERR_INTERRUPTED`.
 */
export async function readLinkConfig(flags: LinkConfigFlags, io: Io): Promise<LinkConfig | undefined> {
  const { config, accept, defaultAddress, redirect, closeAfter } = flags
  const partial = defaultAddress !== undefined || redirect !== undefined || closeAfter !== undefined
  if (config !== undefined) {
    if (accept !== undefined || partial)
      throw new UsageError(
        '--config holds a whole configuration; omit --accept, --default-address, --redirect and --close-after.',
      )
    return (await readJson(config, io)) as LinkConfig
  }
  if (redirect !== undefined && closeAfter !== undefined)
    throw new UsageError('--redirect and --close-after exclude each other; omit one of them.')
  if (accept === undefined) {
    if (!partial) return undefined
    throw new UsageError('These options need the accepted tokens; add them with --accept.')
  }
  const onCompleteAction = actionOf(redirect, closeAfter)
  return { coins: coinsOf(accept, defaultAddress ?? []), ...(onCompleteAction && { onCompleteAction }) }
}

function coinsOf(accept: readonly AcceptedTokens[], addresses: readonly ChainAddress[]): LinkConfig['coins'] {
  const symbols = new Map<number, Set<string>>()
  for (const each of accept) symbols.set(each.chainId, new Set([...(symbols.get(each.chainId) ?? []), ...each.symbols]))
  const byChain = new Map(addresses.map(({ chainId, address }) => [chainId, address]))
  if (byChain.size < addresses.length)
    throw new UsageError('--default-address names a chain twice; name each chain once.')
  const other = [...byChain.keys()].find((chainId) => !symbols.has(chainId))
  if (other !== undefined)
    throw new UsageError(
      `--default-address names chain ${other}, which has no accepted tokens; add them with --accept.`,
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

/** Far above the size of any configuration. */
const maxMiB = 4

/**
 * Reads one JSON document in UTF-8. Error messages never quote it: it may be another, secret file.
 * @param source - A path, or `-` for standard input.
 * @throws UsageError `ERR_USAGE` when it cannot be read, is too large, or is not JSON;
 * InterruptedError `ERR_INTERRUPTED` when `io.signal` aborts.
 */
async function readJson(source: string, io: Pick<Io, 'input' | 'signal'>): Promise<unknown> {
  const name = inputName(source)
  const bytes = await readInput(source, io, maxMiB)
  if (!isUtf8(bytes)) throw new UsageError(`${name} is not text in UTF-8.`)
  try {
    return parseForeignJson(bytes)
  } catch (error) {
    const [, position] = / at position (\d+)/.exec((error as Error).message) ?? []
    throw new UsageError(
      `${name} is not JSON${position === undefined ? '' : `: see character ${Number(position) + 1}`}.`,
    )
  }
}

/**
 * Warns about each symbol without an address that is not a listed token of its chain, so that a typo is found early.
 * Listed are known tokens, the native token and `PI_TOKENS_<chainId>`, which overrides known tokens.
 * Case matters, as in the verification of a payment.
 */
export async function unlistedTokens({ coins }: LinkConfig, chains: Config['chains']): Promise<string[]> {
  const { knownTokens, nativeToken } = await import('@payment-integration/chain-evm')
  return coins.flatMap(({ chainId, tokens }) => {
    const configured = chains.find((each) => each.chainId === chainId)?.tokens ?? []
    // The last entry of an address wins: the configuration overrides the others.
    const known = [nativeToken(chainId, undefined), ...knownTokens(chainId), ...configured]
    const listed = [...new Map(known.map(({ address: at, symbol }) => [at, symbol])).values()]
    return tokens
      .filter(({ symbol, address }) => address === undefined && !listed.includes(symbol))
      .map(
        ({ symbol }) =>
          `Warning: ${chainId}:${symbol} is not a known or configured token, so payments in it cannot be verified. ` +
          `Correct the symbol, or list the token in PI_TOKENS_${chainId}, also for the server.`,
      )
  })
}
