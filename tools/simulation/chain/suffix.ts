/**
 * The calldata suffix that names an integration, from its definition. Source: ERC-8021 schema 0;
 * docs/decisions/integration-address-on-chain.md.
 * @module
 */
import { type Hex, stringToHex, toHex } from 'viem'

const marker = '8021'.repeat(8)

/** Codes, their length in one byte, the schema 0, the marker. */
export function dataSuffix(address: Hex): Hex {
  const codes = stringToHex(address.toLowerCase()).slice(2)
  return `0x${codes}${toHex(codes.length / 2, { size: 1 }).slice(2)}00${marker}`
}
