/**
 * Deployed SpokePools of the Across bridge: proxies that survive upgrades, lowercased. Across has none on chain 100.
 * Facts from across-protocol/contracts, `broadcast/deployed-addresses.json` at 8ab0730 (June 2026).
 * @module
 */
const byChain: Readonly<Record<number, readonly string[]>> = {
  1: ['0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5'],
  10: ['0x6f26bf09b1c792e3228e5467807a900a503c0281'],
  56: ['0x4e8e101924ede233c13e2d8622dc8aed2872d505'],
  137: ['0x9295ee1d8c5b022be115a2ad3c30c72e34e7f096'],
  8453: ['0x09aea4b2242abc8bb4bb78d537a67a245a7bec64'],
  42161: ['0xe35e9842fceaca96570b734083f4a58e8f7c5f2a'],
}

/** The SpokePools of a chain; none on a chain that is not known. */
export function knownSpokePools(chainId: number): readonly string[] {
  return byChain[chainId] ?? []
}
