/** Reads the variables of each chain: `PI_RPC_URL_<chainId>` and its companions. @module */
import { finality } from '@payment-integration/contract'
import type { ChainConfig, RouterConfig } from './config.js'
import { readEndpoints } from './endpoint-variables.js'
import { readPriceFeeds, readTokens } from './pricing-variables.js'
import { type Environment, show, type Variables, valueName } from './variables.js'

const perChain = [
  'PI_RPC_URL_',
  'PI_HEADS_URL_',
  'PI_PROOF_',
  'PI_RAW_RECEIPTS_',
  'PI_MAX_RANGE_',
  'PI_ROUTERS_',
  'PI_SPOKE_POOLS_',
  'PI_TOKENS_',
  'PI_PRICE_FEEDS_',
  'PI_START_BLOCK_',
  'PI_POLL_MS_',
  'PI_RPC_PRICE_',
  'PI_CONFIRMATIONS_',
] as const
const chainIdPattern = /^[1-9][0-9]{0,14}$/

/** The chain id in the variable's name, or null when it is not a per-chain variable. */
export function chainIdOf(name: string): string | null {
  const value = valueName(name)
  const prefix = perChain.find((each) => value.startsWith(each))
  return prefix === undefined ? null : value.slice(prefix.length)
}

/** Reads every chain that has an RPC URL. A companion variable without one is a problem. */
export function readChains(env: Environment, variables: Variables): ChainConfig[] {
  const { problems } = variables
  const ids = new Set<string>()
  for (const name of Object.keys(env).sort()) {
    const id = chainIdOf(name)
    if (id === null || variables.text(valueName(name)) === undefined) continue
    if (chainIdPattern.test(id)) ids.add(id)
    else problems.push(`${name} ends in ${show(id)}; expected a chain id in plain digits, as in PI_RPC_URL_1.`)
  }
  return [...ids].sort((a, b) => Number(a) - Number(b)).map((id) => readChain(id, variables))
}

function readChain(id: string, variables: Variables): ChainConfig {
  const chainId = Number(id)
  return {
    chainId,
    endpoints: readEndpoints(id, variables),
    routers: readRouters(`PI_ROUTERS_${id}`, variables),
    spokePools: readSpokePools(`PI_SPOKE_POOLS_${id}`, variables),
    tokens: readTokens(`PI_TOKENS_${id}`, variables),
    priceFeeds: readPriceFeeds(`PI_PRICE_FEEDS_${id}`, variables),
    startBlock: readStartBlock(`PI_START_BLOCK_${id}`, variables),
    pollMs: variables.integer(`PI_POLL_MS_${id}`, { min: 50, max: 3_600_000, unit: 'milliseconds' }, 1_000),
    callPrice: readCallPrice(`PI_RPC_PRICE_${id}`, variables),
    proof: readProof(`PI_PROOF_${id}`, variables),
    rawReceipts: variables.choice(`PI_RAW_RECEIPTS_${id}`, ['on', 'off'], 'on') === 'on',
    maxRange: readMaxRange(`PI_MAX_RANGE_${id}`, variables),
    confirmations: readConfirmations(`PI_CONFIRMATIONS_${id}`, chainId, variables),
  }
}

function readConfirmations(name: string, chainId: number, variables: Variables): number | null {
  const table: Readonly<Record<number, { readonly confirmations: number }>> = finality
  if (variables.text(name) === undefined) return table[chainId]?.confirmations ?? null
  return variables.integer(name, { min: 0, max: 1_000_000, unit: 'blocks' }, 0)
}

function readProof(name: string, variables: Variables): ChainConfig['proof'] {
  return variables.text(name) === undefined ? null : variables.choice(name, ['root', 'bloom', 'none'], 'root')
}

function readCallPrice(name: string, { text, problems }: Variables): number | null {
  const value = text(name)
  if (value === undefined) return null
  if (/^[0-9]{1,7}(\.[0-9]{1,6})?$/.test(value)) return Number(value)
  problems.push(`${name} is ${show(value)}; expected the price of a million calls, such as 0.85: at most 6 decimals.`)
  return null
}

function readMaxRange(name: string, variables: Variables): number | null {
  if (variables.text(name) === undefined) return null
  return variables.integer(name, { min: 1, max: 1_000_000, unit: 'blocks' }, 1)
}

function readRouters(name: string, { text, problems }: Variables): readonly RouterConfig[] | null {
  const value = text(name)
  if (value === undefined) return null
  return value.split(',').flatMap((part) => {
    const [, address, version] = /^(0x[0-9a-fA-F]{40})@([0-9]+\.[0-9]+)$/.exec(part.trim()) ?? []
    if (address !== undefined && version !== undefined) return [{ address: address.toLowerCase(), version }]
    problems.push(`${name} holds ${show(part)}; expected 0x and 40 hex digits, an @ and a version such as 0.8.`)
    return []
  })
}

function readSpokePools(name: string, { text, problems }: Variables): readonly string[] | null {
  const value = text(name)
  if (value === undefined) return null
  return value.split(',').flatMap((part) => {
    const [address] = /^0x[0-9a-fA-F]{40}$/.exec(part.trim()) ?? []
    if (address !== undefined) return [address.toLowerCase()]
    problems.push(`${name} holds ${show(part)}; expected 0x and 40 hex digits.`)
    return []
  })
}

function readStartBlock(name: string, variables: Variables): number | 'head' {
  if (variables.text(name) === 'head') return 'head'
  if (variables.text(name) === undefined) return 'head'
  return variables.integer(name, { min: 0, max: Number.MAX_SAFE_INTEGER, unit: '`head` or a block number' }, 0)
}
