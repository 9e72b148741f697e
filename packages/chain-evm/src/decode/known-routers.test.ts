import { expect, test } from 'vitest'
import { chainsWithRouters, knownRouters } from './known-routers.js'

const all = chainsWithRouters.flatMap((chainId) => knownRouters(chainId).map((router) => ({ chainId, ...router })))

test('there are 40 routers of versions 0.1 to 0.6 and 7 of version 0.8, on 8 chains', () => {
  expect(all.filter(({ version }) => version === '0.8')).toHaveLength(7)
  expect(all.filter(({ version }) => ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6'].includes(version))).toHaveLength(40)
  expect(all).toHaveLength(47)
  expect(chainsWithRouters).toEqual([1, 5, 10, 56, 100, 137, 8453, 42161])
})

test('addresses are lowercase, and none is listed twice on a chain', () => {
  for (const { address } of all) expect(address).toMatch(/^0x[0-9a-f]{40}$/)
  expect(new Set(all.map(({ chainId, address }) => `${chainId}:${address}`)).size).toBe(47)
})

test.each([
  [1, '0x4cafd841df0df6da5739f729491887d64ad2794c', '0.1'],
  [1, '0x061888246a29feb9bb3f168cd8589b3cf4115668', '0.2'],
  [1, '0xe3a0bc3483ae5a04db7ef2954315133a6f7d228e', '0.5'],
  [8453, '0xaedaf330ae63926937588e728d9a6c80f033fc77', '0.6'],
  [1, '0x0487c9fe08db1c21a9c3cf373a4d93623b8169ee', '0.8'],
  [10, '0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9', '0.8'],
  [100, '0x3160ae35d64c03182cae1d64626894b563123e94', '0.8'],
])('chain %i has %s as version %s', (chainId, address, version) => {
  expect(knownRouters(chainId)).toContainEqual({ address, version })
})

test('a chain without a deployment has none', () => {
  expect(knownRouters(31337)).toEqual([])
})
