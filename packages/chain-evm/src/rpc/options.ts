/** Checks of options, before any work starts. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import type { KnownRouter } from '../decode/known-routers.js'
import type { RouterDecoder } from '../decode/router-decoder.js'
import { toAddress } from './hex.js'

/** @throws {RangeError} When `value` is not a whole number of at least `min`. */
export function checkWhole(name: string, value: number, min: number): void {
  if (!Number.isSafeInteger(value) || value < min)
    throw new RangeError(`${name} is ${value}; pass a whole number of at least ${min}.`)
}

/**
 * @param name - Of the option.
 * @param protocols - With their colons.
 * @throws {TypeError} When `url` has none of the protocols. The URL itself is not repeated: it may hold a key.
 */
export function checkUrl(name: string, url: string, protocols: readonly string[]): void {
  if (!protocols.includes(parseUrl(url)?.protocol ?? ''))
    throw new TypeError(
      `${name} is not a URL with one of ${protocols.join(' ')}; for other protocols pass a viem transport.`,
    )
}

/**
 * The routers whose payments are read: version by lowercased address.
 * @throws {TypeError} On a wrong address or version, two versions for one address, or no router. An empty address
 * filter would ask the node for the logs of every contract.
 */
export function checkRouters(routers: readonly KnownRouter[], decoder: RouterDecoder): ReadonlyMap<string, string> {
  const versions = new Map<string, string>()
  for (const router of routers) {
    const address = toAddress(router.address)
    if (address === null)
      throw new TypeError(`A router's address is ${JSON.stringify(router.address)}; pass 0x and 40 hex digits.`)
    if (!/^\d+\.\d+$/.test(router.version))
      throw new TypeError(`Router ${address} has version ${JSON.stringify(router.version)}; pass one such as "0.8".`)
    const known = versions.get(address)
    if (known !== undefined && known !== router.version)
      throw new TypeError(
        `Router ${address} is listed with versions ${known} and ${router.version}; keep the right one.`,
      )
    versions.set(address, router.version)
  }
  const read = new Map([...versions].filter(([, version]) => decoder.reads(version)))
  if (read.size === 0)
    throw new TypeError(`None of the ${versions.size} routers has a version that the decoder reads; list at least one.`)
  return read
}
