import { describe, expect, it } from 'vitest'
import { createRangeCheck, findRangeProblem } from './address-ranges.js'

describe('createRangeCheck', () => {
  const isCovered = createRangeCheck(['203.0.113.7', '8.8.0.0/16', '2606:4700::/32', '2001:500:88:200::10'])
  it.each(['203.0.113.7', '8.8.0.0', '8.8.255.255', '2606:4700::1', '2606:4700:ffff::', '2001:500:88:200::10'])(
    '%s is covered',
    (address) => expect(isCovered(address)).toBe(true),
  )
  it.each(['203.0.113.8', '8.9.0.0', '8.7.255.255', '2606:4701::', '2001:500:88:200::11', 'example.com', '', '8.8'])(
    '%j is not covered',
    (address) => expect(isCovered(address)).toBe(false),
  )
  it('no range covers nothing, and a range of a whole family does not cover the other', () => {
    expect(createRangeCheck([])('8.8.8.8')).toBe(false)
    expect(createRangeCheck(['0.0.0.0/0'])('8.8.8.8')).toBe(true)
    expect(createRangeCheck(['0.0.0.0/0'])('2606:4700::1')).toBe(false)
    expect(createRangeCheck(['::/0'])('2606:4700::1')).toBe(true)
  })
  it('an invalid range throws at the start', () => {
    expect(() => createRangeCheck(['8.8.8.8/33'])).toThrow(TypeError)
  })
})

describe('findRangeProblem', () => {
  it.each(['8.8.8.8', '8.8.8.0/24', '0.0.0.0/0', '::/0', '2001:db8::/32', '2001:db8::1/128'])('%s is fine', (range) =>
    expect(findRangeProblem(range)).toBe(null),
  )
  const none = ['', 'example.com', '8.8', '010.0.0.1', '8.8.8.8/', '8.8.8.8/01', '8.8.8.8/-1', '::1%lo']
  it.each<[string, string]>([
    ...none.map((range): [string, string] => [range, 'is no IP address or CIDR range']),
    ['8.8.8.8/33', 'has a prefix longer than 32 bits'],
    ['2001:db8::/129', 'has a prefix longer than 128 bits'],
    ['8.8.8.8/24', 'has bits set beyond its prefix'],
    ['2001:db8::1/64', 'has bits set beyond its prefix'],
  ])('%j %s', (range, problem) => expect(findRangeProblem(range)).toBe(problem))
})
