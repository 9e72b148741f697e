import { describe, expect, it } from 'vitest'
import { createSourceReader } from './request-limits.js'

const proxies = ['10.0.0.0/24', '192.0.2.1', '2001:db8:f::/48']
const { findSource, findConnectionSource } = createSourceReader(proxies)

describe('the source of a request', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
    ['/tmp/socket', 'unknown'],
  ])('without a proxy, from %s, is %s, whatever the header says', (peer, source) => {
    expect(findSource(peer, null)).toBe(source)
    expect(findSource(peer, '198.51.100.1')).toBe(source)
  })

  it.each([
    ['one hop', '198.51.100.1', '198.51.100.1'],
    ['what the client wrote before the proxy did', '1.1.1.1, 10.0.0.9, 198.51.100.1', '198.51.100.1'],
    ['a second trusted proxy', '198.51.100.1,10.0.0.9', '198.51.100.1'],
    ['trusted proxies of both kinds', '198.51.100.1, 2001:db8:f::7,::ffff:10.0.0.9', '198.51.100.1'],
    ['trusted proxies alone', '10.0.0.8, 10.0.0.9', '10.0.0.8'],
    ['an address with a port', '198.51.100.1:443', '198.51.100.1'],
    ['IPv6 in brackets with a port', '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['IPv6', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['no header', null, '10.0.0.1'],
    ['an empty header', '', '10.0.0.1'],
    ['an empty hop at the end', '198.51.100.1,', '10.0.0.1'],
    ['a word at the end', '198.51.100.1, unknown', '10.0.0.1'],
    ['a word after a trusted proxy', 'unknown, 10.0.0.9', '10.0.0.9'],
    ['an address that is none', '198.51.100.256', '10.0.0.1'],
    ['a hop that is too long', '1'.repeat(8_000), '10.0.0.1'],
    ['a host name', 'example.com', '10.0.0.1'],
  ])('through a trusted proxy, with %s, is as the proxies say', (_, header, source) => {
    expect(findSource('10.0.0.1', header)).toBe(source)
    expect(findSource('::ffff:10.0.0.1', header)).toBe(source)
  })

  it('is the peer address when no proxy is trusted', () => {
    expect(createSourceReader().findSource('10.0.0.1', '198.51.100.1')).toBe('10.0.0.1')
  })
})

it('a connection from a trusted proxy has no source; any other has its peer address', () => {
  expect(
    ['10.0.0.1', '::ffff:192.0.2.1', '203.0.113.9', '2001:db8:1:2::9', undefined].map(findConnectionSource),
  ).toEqual([null, null, '203.0.113.9', '2001:db8:1:2::/64', 'unknown'])
})
