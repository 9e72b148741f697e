/** Reads the nodes of a chain: `PI_RPC_URL_<chainId>` and `PI_HEADS_URL_<chainId>`. @module */
import { parseUrl } from '@payment-integration/contract'
import type { EndpointConfig } from './config.js'
import type { Variables } from './variables.js'

const rpcSchemes = ['http:', 'https:', 'ws:', 'wss:']
const headsSchemes = ['ws:', 'wss:']

/**
 * Reads one or several URLs, comma-separated, the preferred one first. The n-th `PI_HEADS_URL` belongs to the n-th. Any
 * part of a URL may be a key, so problems name an endpoint by its position only.
 */
export function readEndpoints(chainId: string, variables: Variables): readonly EndpointConfig[] {
  const { problems } = variables
  const name = `PI_RPC_URL_${chainId}`
  const headsName = `PI_HEADS_URL_${chainId}`
  const urls = readUrls(name, rpcSchemes, variables)
  const heads = readUrls(headsName, headsSchemes, variables)
  if (urls.length === 0) problems.push(`${name} is not set; this chain has other variables, so it needs an RPC URL.`)
  else if (heads.length > urls.length)
    problems.push(
      `${headsName} names ${heads.length} endpoints and ${name} ${urls.length}; the n-th belongs to the n-th.`,
    )
  return urls.map((url, index) => {
    const headsUrl = heads[index]
    return headsUrl === undefined ? { url } : { url, headsUrl }
  })
}

function readUrls(name: string, schemes: readonly string[], { text, problems }: Variables): readonly string[] {
  const urls =
    text(name)
      ?.split(',')
      .map((part) => part.trim()) ?? []
  const positions = new Map<string, number>()
  urls.forEach((url, index) => {
    const subject = urls.length === 1 ? name : `${name}: endpoint ${index + 1} of ${urls.length}`
    const flaw = flawOf(url, schemes)
    if (flaw !== null) problems.push(`${subject} ${flaw}`)
    else if (positions.has(url)) problems.push(`${subject} is endpoint ${positions.get(url)} again; keep one of them.`)
    else positions.set(url, index + 1)
  })
  return urls
}

function flawOf(url: string, schemes: readonly string[]): string | null {
  const begins = schemes.map((scheme) => `${scheme}//`)
  const expected = [...begins.slice(0, -2), begins.slice(-2).join(' or ')].join(', ')
  const parsed = parseUrl(url)
  // A sign that a password holds unencoded ends the host early: no URL, or another host with a fragment.
  if (parsed === null || parsed.hash !== '')
    return `is not a URL; expected one that begins with ${expected}, with # and / in a password as %23 and %2F.`
  const { protocol, host } = parsed
  return schemes.includes(protocol) && host !== ''
    ? null
    : `has another scheme than expected; it begins with ${expected}.`
}
