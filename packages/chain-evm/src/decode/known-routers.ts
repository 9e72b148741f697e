/**
 * Lists the deployed payment routers by lowercase address. Sources, both MIT: yodlpay/tokenlists at b405782,
 * `src/routerlist-v1.json` (versions 0.1 to 0.6), and the npm package \@yodlpay/tokenlists 0.8.40 (version 0.8).
 * @module
 */
import { parseAddress } from '../rpc/hex.js'
import type { RouterDecoder } from './router-decoder.js'

/** A deployed payment router. */
export interface KnownRouter {
  /** Contract address. */
  readonly address: string
  /** Contract version, such as `0.8`. */
  readonly version: string
}

/** Version, address and chains of each deployment, ordered by version. */
const deployments: readonly (readonly [string, string, readonly number[]])[] = [
  ['0.1', '0x4cafd841df0df6da5739f729491887d64ad2794c', [1]],
  ['0.1', '0x8412d3c11aa605ebaf14d0b6bc7705ab45143ee8', [5]],
  ['0.1', '0xfba75752d73d3fb3aa13e7bc7cfd142e73e78a8a', [10]],
  ['0.1', '0x448fabd2d16bc48ecdbe68890414de7a1b6348fd', [100]],
  ['0.1', '0x334264f4fbb56a84f80df722ba765d210f0cf555', [42_161]],
  ['0.2', '0x061888246a29feb9bb3f168cd8589b3cf4115668', [1]],
  ['0.2', '0x408eb3f5a578b3eecfe2c0cd58988fab306885b4', [10, 42_161]],
  ['0.2', '0x5fad44dc5b63f1717523c340de357ef399fea0f2', [100]],
  ['0.2', '0x8866dafa2762346c85098c5b2201fa7cb2da6100', [137]],
  ['0.2', '0x2bae9bb53bce89c760dbfa55d854d43ab96ee19f', [8_453]],
  ['0.2', '0x775397bf2f68af5aba4029260c1f44770b77d513', [8_453]],
  ['0.3', '0x3e30748c33981e97cba36d4fc5ed0237e8bab52a', [1]],
  ['0.3', '0x2bae9bb53bce89c760dbfa55d854d43ab96ee19f', [10, 100, 42_161]],
  ['0.3', '0xbb8f4e641bbef2fb3e4d73ddf902bee92cee8889', [137]],
  ['0.3', '0x2bfdce58c5f3533617013aa2e4f8c6bd6dc4398e', [8_453]],
  ['0.4', '0x9569b81892b7168efe41cdc51aa075a71c0f4f5b', [1, 42_161]],
  ['0.4', '0x8ee49523463d041e28c2f80f95e3f511e1e73925', [10]],
  ['0.4', '0xaf69d83e142c6f4b8e72c634a03c0ab6f361d0cc', [100]],
  ['0.4', '0x0642f4e4fcfa014db0134d6c96accbb2bdd77ba4', [137]],
  ['0.4', '0xe066da17bf33b51271cfb568a04b6115402b6c2d', [8_453]],
  ['0.5', '0xe3a0bc3483ae5a04db7ef2954315133a6f7d228e', [1, 42_161]],
  ['0.5', '0x42ecf39814824a684529d57e1635d30a90fb9c33', [10]],
  ['0.5', '0x34d327475e4e96a738e21cfc1a5d0f2256c62c34', [56]],
  ['0.5', '0x9357cfd027683c069481ed35326477c0dfd32da5', [100]],
  ['0.5', '0x3530780d479d15f6f3762943f63fef98f0b13021', [137]],
  ['0.5', '0x29f8452bc8db7b4ecd5de3336b50dd20df97f0be', [8_453]],
  ['0.6', '0x5322bff39339eda261bf878fa7d92791cc969bb0', [1]],
  ['0.6', '0x6c17924f2364d8a86d2d10ed6744200ba7c70694', [1]],
  ['0.6', '0xaedaf330ae63926937588e728d9a6c80f033fc77', [1, 10, 56, 100, 137, 8_453, 42_161]],
  ['0.8', '0x0487c9fe08db1c21a9c3cf373a4d93623b8169ee', [1]],
  ['0.8', '0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9', [10, 56, 137, 8_453, 42_161]],
  ['0.8', '0x3160ae35d64c03182cae1d64626894b563123e94', [100]],
]

/** Chains with a known router, ascending. */
export const chainsWithRouters: readonly number[] = [...new Set(deployments.flatMap(([, , chains]) => chains))].sort(
  (a, b) => a - b,
)

/**
 * The known routers of a chain, ordered by version; empty for an unknown chain.
 * @example
 * import { knownRouters } from '@payment-integration/chain-evm'
 * for (const { address, version } of knownRouters(8453)) console.log(version, address)
 */
export function knownRouters(chainId: number): readonly KnownRouter[] {
  return deployments.flatMap(([version, address, chains]) => (chains.includes(chainId) ? [{ address, version }] : []))
}

/**
 * Validates routers, and selects those that the decoder supports.
 * @returns Version by lowercased address; never empty, because a log filter without addresses matches all contracts.
 * @throws {TypeError} On a wrong address or version, two versions of one address, or no supported router.
 */
export function checkRouters(routers: readonly KnownRouter[], decoder: RouterDecoder): ReadonlyMap<string, string> {
  const versions = new Map<string, string>()
  for (const router of routers) {
    const address = parseAddress("A router's address", router.address)
    if (!/^\d+\.\d+$/.test(router.version))
      throw new TypeError(`Router ${address} has version ${JSON.stringify(router.version)}; pass one such as "0.8".`)
    const listedVersion = versions.get(address)
    if (listedVersion !== undefined && listedVersion !== router.version)
      throw new TypeError(
        `Router ${address} is listed with versions ${listedVersion} and ${router.version}; keep the right one.`,
      )
    versions.set(address, router.version)
  }
  const supported = new Map([...versions].filter(([, version]) => decoder.supportsVersion(version)))
  if (supported.size === 0)
    throw new TypeError(`None of the ${versions.size} routers has a version that the decoder supports; list one.`)
  return supported
}
