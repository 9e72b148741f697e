/** Which node a reindex reads from. @module */
import type { ChainConfig } from '@payment-integration/server/service'
import { InvalidArgumentError } from 'commander'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'

/** A node that is named by its address, or by its position among those that are configured, counted from 1. */
export type ChosenEndpoint = { readonly url: string } | { readonly position: number }

/**
 * Reads a position or an address from an argument.
 * @throws InvalidArgumentError With what is expected; it repeats nothing of the argument.
 */
export function parseEndpoint(text: string): ChosenEndpoint {
  if (/^[1-9]\d{0,2}$/.test(text)) return { position: Number(text) }
  const url = URL.canParse(text) ? new URL(text) : null
  const isAddress = url !== null && /^(https?|wss?):$/.test(url.protocol) && !text.includes(',')
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError(
      'Expected the position of a configured endpoint, or an http(s) or ws(s) URL without user and comma. ' +
        'Other users can see arguments: put an address with a key into PI_RPC_URL_<chain>, and give its position.',
    )
  return { url: text }
}

/** The environment of a command that reads the chain from `endpoint`: an address stands in place of the configured ones. */
export function withEndpoint(env: Io['env'], chainId: number, endpoint: ChosenEndpoint | undefined): Io['env'] {
  if (endpoint === undefined || 'position' in endpoint) return env
  return { ...env, [`PI_RPC_URL_${chainId}`]: endpoint.url, [`PI_HEADS_URL_${chainId}`]: undefined }
}

/**
 * The chain as it is to be read.
 * @throws UsageError `ERR_USAGE` when it is not configured, or has no endpoint at that position.
 */
export function chosenChain(
  chains: readonly ChainConfig[],
  chainId: number,
  endpoint: ChosenEndpoint | undefined,
): ChainConfig {
  const chain = chains.find((each) => each.chainId === chainId)
  if (chain === undefined)
    throw new UsageError(
      `Chain ${chainId} is not configured; set PI_RPC_URL_${chainId}, or name a node with --endpoint.`,
    )
  if (endpoint === undefined || 'url' in endpoint) return chain
  const chosen = chain.endpoints[endpoint.position - 1]
  if (chosen === undefined)
    throw new UsageError(
      `PI_RPC_URL_${chainId} names ${chain.endpoints.length} endpoint(s), and no number ${endpoint.position}.`,
    )
  return { ...chain, endpoints: [chosen] }
}
