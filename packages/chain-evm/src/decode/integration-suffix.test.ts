import { Attribution } from 'ox/erc8021'
import { describe, expect, test } from 'vitest'
import { encodeIntegrationSuffix, parseIntegrationSuffix } from './integrations.js'

const address = '0x00000000000000000000000000000000000000aa'
const other = '0x00000000000000000000000000000000000000bb'
const marker = '80218021802180218021802180218021'
const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex')
/** A schema 0 suffix with a length byte of its own. */
const suffix = (codes: string, length = codes.length) =>
  `${hex(codes)}${length.toString(16).padStart(2, '0')}00${marker}`

test('the suffix is the one that ox writes for the lowercase address', () => {
  const written = encodeIntegrationSuffix(address.toUpperCase().replace('0X', '0x'))
  expect(written).toBe(Attribution.toDataSuffix({ codes: [address] }))
})

test.each(['', '0x', address.slice(0, -1), `${address}0`, address.slice(2), ` ${address}`])(
  'rejects to write %j',
  (input) => expect(() => encodeIntegrationSuffix(input)).toThrow(TypeError),
)

describe('reading', () => {
  test.each([
    ['a suffix behind a call', `0xd33dda5c${'00'.repeat(64)}${suffix(address)}`, address],
    ['a suffix that is all of the calldata', `0x${suffix(address)}`, address],
    ['a checksummed code, lowercased', `0x${suffix('0x00000000000000000000000000000000000000aA')}`, address],
    ['uppercase hex digits of the calldata', `0x${suffix(address).toUpperCase()}`, address],
    ['the first address-shaped code', `0x${suffix(`wallet,${address},${other}`)}`, address],
    ['the last of two suffixes', `0x${suffix(other)}${suffix(address)}`, address],
    ['an address before a wallet’s own suffix', `0x${suffix(address)}${suffix('wallet')}`, address],
    ['an address before an empty suffix', `0x${suffix(address)}${suffix('')}`, address],
    ['no calldata', '0x', null],
    ['a call without a suffix', `0xd33dda5c${'00'.repeat(64)}`, null],
    ['the marker alone', `0x${marker}`, null],
    ['the marker and a schema id alone', `0x00${marker}`, null],
    ['length 0', `0x${suffix('')}`, null],
    ['a length larger than the calldata', `0x${suffix(address, 43)}`, null],
    ['a length that cuts the address', `0x${suffix(address, 41)}`, null],
    ['a truncated marker', `0x${suffix(address).slice(0, -2)}`, null],
    ['bytes behind the marker', `0x${suffix(address)}00`, null],
    ['codes that are not ASCII', `0x${suffix(`${address},\u00e9`)}`, null],
    ['a code with white space', `0x${suffix(` ${address}`)}`, null],
    ['a code without 0x', `0x${suffix(address.slice(2))}`, null],
    ['a code with a capital X', `0x${suffix(address.replace('0x', '0X'))}`, null],
    ['a code of 41 digits', `0x${suffix(`${address}0`)}`, null],
    ['words that are no address', `0x${suffix('baseapp,morpho')}`, null],
    ['schema 1', Attribution.toDataSuffix({ codes: [address], codeRegistry: { address, chainId: 1 } }), null],
    ['schema 2', Attribution.toDataSuffix({ appCode: address }), null],
    ['an unknown schema', `0x${hex(address)}2a09${marker}`, null],
    ['half a byte', `0x0${suffix(address)}`.slice(0, -1), null],
    ['text that is not hex', `0xzz${suffix(address)}`.replace('30', 'zz'), null],
  ])('%s', (_, calldata, expected) => expect(parseIntegrationSuffix(calldata)).toBe(expected))

  test('gives up behind eight suffixes, so that calldata made of suffixes costs little', () => {
    expect(parseIntegrationSuffix(`0x${suffix(address)}${suffix('w').repeat(7)}`)).toBe(address)
    expect(parseIntegrationSuffix(`0x${suffix(address)}${suffix('w').repeat(8)}`)).toBeNull()
  })
})
