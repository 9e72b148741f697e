import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLoopbackAddress, isPublicAddress } from './is-public-address.js'

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.112.255',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450:4001:81b::200e',
  '2003::1',
  '2606:4700::5efe',
]

const refusedAddresses: Readonly<Record<string, readonly string[]>> = {
  'this network': ['0.0.0.0', '0.0.0.1', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  loopback: ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
  'link-local': ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf::1', 'fe80::1%eth0'],
  'cloud metadata': ['168.63.129.16', 'fd00:ec2::254', '169.254.170.2'],
  'protocol assignments': ['192.0.0.0', '192.0.0.170', '192.88.99.1', '192.52.193.1', '192.31.196.1', '192.175.48.1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.1', '255.255.255.254', '255.255.255.255'],
  unspecified: ['::', '0:0:0:0:0:0:0:0'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:a00:1'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::a00:1', '::8.8.8.8'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ORCHID: ['2001:10::1', '2001:20::1', '2001:30::1'],
  AS112: ['2001:4:112::1', '2620:4f:8000::1'],
  ISATAP: ['2606:4700::5efe:7f00:1', '2606:4700::200:5efe:a00:1', '2a00:1:2:3:0:5efe:10.0.0.1'],
  'unique local': ['fc00::1', 'fd12:3456::1', 'fdff::1'],
  'site-local': ['fec0::1', 'feff::1'],
  discard: ['100::1'],
  'outside 2000::/3': ['4000::1', '1fff::1', '5f00::1', '8000::1', 'e000::1', '200::1'],
  'not an address': ['', ' ', 'localhost', 'example.com', '1.2.3', '1.2.3.4.5', '256.1.1.1', '1.1.1.1 ', '[::1]'],
  'another spelling of IPv4': ['2130706433', '0x7f.0.0.1', '0177.0.0.1', '127.1', '0', '08.8.8.8', '0x8.8.8.8'],
  'a network': ['8.8.8.8/32', '2606:4700::/32'],
}

describe('isPublicAddress', () => {
  it.each(publicAddresses)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))

  for (const [kind, addresses] of Object.entries(refusedAddresses))
    it.each(addresses)(`${kind}: %j is not public`, (address) => expect(isPublicAddress(address)).toBe(false))

  it('refuses every private IPv4 address in every form that carries it', () => {
    const octet = fc.integer({ min: 0, max: 255 })
    const networks: readonly (readonly number[])[] = [[10], [127], [0], [169, 254], [192, 168], [172, 16], [100, 64]]
    const seed = Date.now() & 0x7fffffff
    const isPrivate = fc.property(fc.constantFrom(...networks), octet, octet, octet, octet, (network, a, b, c, d) => {
      const [w = 0, x = 0, y = 0, z = 0] = [...network, a, b, c, d]
      const high = ((w << 8) | x).toString(16)
      const low = ((y << 8) | z).toString(16)
      const carriers = [
        `${w}.${x}.${y}.${z}`,
        `::ffff:${w}.${x}.${y}.${z}`,
        `::${high}:${low}`,
        `::ffff:0:${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `2002:${high}:${low}::1`,
        `2001:0:${high}:${low}::1`,
        `2606:4700::5efe:${high}:${low}`,
      ]
      for (const carrier of carriers) expect(isPublicAddress(carrier), `${carrier} (seed ${seed})`).toBe(false)
    })
    fc.assert(isPrivate, { seed, numRuns: 5_000 })
  })
})

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1'])('%s is loopback', (address) =>
    expect(isLoopbackAddress(address)).toBe(true),
  )
  it.each(['8.8.8.8', '10.0.0.1', '0.0.0.0', '::', '::ffff:127.0.0.1', '::7f00:1', 'localhost', '', '::1%lo'])(
    '%j is not loopback',
    (address) => expect(isLoopbackAddress(address)).toBe(false),
  )
})
