/** Builds a link configuration from options or a JSON file. Source: docs/interface.md 2.4. @module */
import { createReadStream } from 'node:fs'
import { addAbortSignal } from 'node:stream'
import type { AccountInput } from '@payment-integration/core'
import type { Config } from '@payment-integration/server'
import { InterruptedError, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import type { AcceptedTokens, ChainAddress } from '../parse.js'

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

/** Far above any configuration, far below what would trouble this process. */
const maxBytes = 4 * 1024 * 1024

/**
 * Reads and parses one JSON document in UTF-8. Messages repeat nothing of it: it may be another file than was meant.
 * @param source - A path, or `-` for standard input.
 * @throws UsageError `ERR_USAGE` when it cannot be read, is too large, or is not JSON;
 * InterruptedError `ERR_INTERRUPTED` when `io.signal` aborts.
 */
export async function readJson(source: string, io: Pick<Io, 'input' | 'signal'>): Promise<unknown> {
  const name = source === '-' ? 'Standard input' : `The file ${source}`
  const bytes = await readAll(source, name, io)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new UsageError(`${name} is not text in UTF-8.`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, position] = / at position (\d+)/.exec((error as Error).message) ?? []
    throw new UsageError(
      `${name} is not JSON${position === undefined ? '' : `: see character ${Number(position) + 1}`}.`,
    )
  }
}

async function readAll(source: string, name: string, { input, signal }: Pick<Io, 'input' | 'signal'>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of addAbortSignal(signal, source === '-' ? input() : createReadStream(source))) {
      size += chunk.length
      if (size > maxBytes) break
      chunks.push(chunk)
    }
  } catch (error) {
    if (signal.aborted) throw new InterruptedError(`${name} was not read: the command was interrupted.`)
    throw new UsageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`)
  }
  if (size > maxBytes) throw new UsageError(`${name} is larger than ${maxBytes / 1024 / 1024} MiB.`)
  return Buffer.concat(chunks)
}

/**
 * A sentence for each symbol without an address that is no token of its chain: neither known, nor the native one, nor in
 * `PI_TOKENS_<chainId>`, which stands in place of what is known of an address. Letters count as they are, as they do
 * when a payment is verified.
 */
export async function unlistedTokens({ coins }: LinkConfig, chains: Config['chains']): Promise<string[]> {
  const { nativeToken } = await import('@payment-integration/chain-evm')
  const { listedTokens } = await import('@payment-integration/server/service')
  return coins.flatMap(({ chainId, tokens }) => {
    const chain = chains.find((each) => each.chainId === chainId) ?? { chainId, tokens: [] }
    // A listed token at the native address comes last, and counts.
    const known = [nativeToken(chainId, undefined), ...listedTokens(chain)]
    const listed = [...new Map(known.map(({ address: at, symbol }) => [at, symbol])).values()]
    return tokens
      .filter(({ symbol, address }) => address === undefined && !listed.includes(symbol))
      .map(
        ({ symbol }) =>
          `Warning: ${chainId}:${symbol} is no token that is known or configured here, so no payment in it can be verified. ` +
          `Correct the symbol, or list the token in PI_TOKENS_${chainId}, for the server too.`,
      )
  })
}
