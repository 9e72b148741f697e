/**
 * The integration address in calldata: a code of an ERC-8021 suffix. Read from the end, the suffix is 16 bytes of
 * repeated `8021` and 1 byte schema id. Schema 0 has 1 byte length and that many bytes of ASCII codes, comma separated.
 * Source: docs/decisions/integration-address-on-chain.md.
 * @module
 */

const marker = '80218021802180218021802180218021'
const markerAndSchema0 = `00${marker}`
/** A suffix that a wallet adds behind ours is looked through, up to this many. */
const maxSuffixes = 8

/**
 * Writes the suffix that names an integration, to be appended to calldata, for example as viem's `dataSuffix`.
 * @param address - The integration address, in any case; it is written lowercased.
 * @throws {TypeError} When the address is not 0x and 40 hex digits.
 * @example encodeIntegrationSuffix('0x00000000000000000000000000000000000000aa')
 */
export function encodeIntegrationSuffix(address: string): `0x${string}` {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new TypeError(`The integration address is ${JSON.stringify(address)}; pass 0x and 40 hex digits.`)
  let codes = ''
  for (const character of address.toLowerCase()) codes += character.charCodeAt(0).toString(16).padStart(2, '0')
  return `0x${codes}${(codes.length / 2).toString(16).padStart(2, '0')}${markerAndSchema0}`
}

/**
 * Reads the integration address in calldata: the first code that is 0x and 40 hex digits, lowercased.
 * A suffix of schema 0 without such a code is removed and the rest is read the same way, because wallets add codes too.
 * A malformed suffix or another schema has no integration.
 * @param calldata - 0x hex.
 * @returns The address, lowercased, or null. It never throws.
 */
export function readIntegrationSuffix(calldata: string): string | null {
  let end = calldata.length
  for (let suffix = 0; suffix < maxSuffixes; suffix++) {
    const lengthEnd = end - markerAndSchema0.length
    if (lengthEnd < 4 || !endsWithMarker(calldata, end)) return null
    const length = Number.parseInt(calldata.slice(lengthEnd - 2, lengthEnd), 16)
    const codesEnd = lengthEnd - 2
    const codesStart = codesEnd - length * 2
    if (Number.isNaN(length) || codesStart < 2) return null
    const codes = calldata.slice(codesStart, codesEnd)
    if (codes !== latest.codes) latest = { codes, address: readCodes(codes) }
    const { address } = latest
    if (address !== undefined) return address
    end = codesStart
  }
  return null
}

/** The codes that were read last: payments of one integration follow each other. */
let latest: { readonly codes: string; readonly address: string | null | undefined } = { codes: '', address: undefined }

function endsWithMarker(calldata: string, end: number): boolean {
  if (calldata.endsWith(markerAndSchema0, end)) return true
  return calldata.slice(end - markerAndSchema0.length, end).toLowerCase() === markerAndSchema0
}

/** The first address among codes, lowercased; undefined when there is none, null when they are malformed. */
function readCodes(hex: string): string | null | undefined {
  const codes = readAscii(hex)
  if (codes === null) return null
  return codes
    .split(',')
    .find((code) => /^0x[0-9a-fA-F]{40}$/.test(code))
    ?.toLowerCase()
}

function readAscii(hex: string): string | null {
  let text = ''
  for (let index = 0; index < hex.length; index += 2) {
    const byte = Number.parseInt(hex.slice(index, index + 2), 16)
    if (!(byte < 0x80)) return null
    text += String.fromCharCode(byte)
  }
  return text
}
