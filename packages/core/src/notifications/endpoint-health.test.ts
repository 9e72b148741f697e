import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EndpointHealth, EndpointResult } from './delivery-store.js'
import { dispatcherDefaults } from './dispatch-run.js'
import { failuresUntilBlock, getEndpoint, judgeEndpoint } from './endpoint-health.js'

const ok = { delivered: true, probe: false }
const failed = { delivered: false, probe: false }
const failedProbe = { delivered: false, probe: true }
const times = (count: number, result: EndpointResult) => Array.from({ length: count }, () => result)
const judge = (
  [failures, blocks]: readonly [number, number],
  results: readonly EndpointResult[],
  fraction = 0.5,
  capMs: number = dispatcherDefaults.maxBlockMs,
) => {
  const after = judgeEndpoint({ failures, blocks }, results, { capMs, fraction })
  return [after.failures, after.blocks, after.blockMs]
}

test.each([
  ['the fifth in a row', [4, 0], [failed], [5, 1, 5_000]],
  ['a hundred at once', [0, 0], times(100, failed), [100, 1, 5_000]],
  ['a success and then five failures', [9, 3], [ok, ...times(5, failed)], [5, 1, 5_000]],
  ['failures in flight when the block began', [5, 1], times(30, failed), [35, 1, null]],
  ['a failed probe', [5, 1], [failedProbe], [6, 2, 10_000]],
  ['a failed probe after a success', [5, 1], [ok, failedProbe], [1, 0, null]],
  ['a failed probe of an endpoint that is blocked anew', [4, 0], [failed, failedProbe], [6, 2, 10_000]],
] as const)('%s: from %j', (_what, before, results, after) => {
  expect(judge(before, results)).toEqual(after)
})

test.each([
  [1, 10_000],
  [2, 20_000],
  [3, 40_000],
  [4, 60_000],
  [5, 60_000],
  [5_000, 60_000],
])('a failed probe after %d blocks blocks for %d ms, moved by a fifth either way', (blocks, ms) => {
  expect(judge([9, blocks], [failedProbe], 0)).toEqual([10, blocks + 1, ms * 0.8])
  expect(judge([9, blocks], [failedProbe])).toEqual([10, blocks + 1, ms])
  expect(judge([9, blocks], [failedProbe], 1)).toEqual([10, blocks + 1, ms * 1.2])
})

test('a cap below 5 s shortens the first block too', () => {
  expect(judge([4, 0], [failed], 0.5, 3_000)).toEqual([5, 1, 3_000])
  expect(judge([5, 1], [failedProbe], 1, 3_000)).toEqual([6, 2, 3_600])
})

const results = fc.array(fc.record({ delivered: fc.boolean(), probe: fc.boolean() }), { maxLength: 40 })
const limits = fc.record({
  capMs: fc.integer({ min: 1, max: 120_000 }),
  fraction: fc.double({ min: 0, max: 1, noNaN: true }),
})
// What the function itself can leave: no blocks without as many failures as it takes.
const health = fc
  .record({ failures: fc.nat(1_000), blocks: fc.nat(50) })
  .map(({ failures, blocks }): EndpointHealth => {
    if (blocks > 0) return { failures: failures + failuresUntilBlock, blocks }
    return { failures: failures % failuresUntilBlock, blocks }
  })

test('whatever the results, it is blocked exactly while five or more failed in a row, and for a time once a block begins', () => {
  fc.assert(
    fc.property(health, results, limits, (before, given, at) => {
      const { failures, blocks, blockMs } = judgeEndpoint(before, given, at)
      const sinceSuccess = given.toReversed().findIndex(({ delivered }) => delivered)
      expect(failures).toBe(sinceSuccess === -1 ? before.failures + given.length : sinceSuccess)
      expect(blocks > 0).toBe(failures >= failuresUntilBlock)
      expect(blockMs === null).toBe(blocks === (sinceSuccess === -1 ? before.blocks : 0))
    }),
  )
})

test.each([
  ['https://shop.example/hook', 'shop.example:443'],
  ['https://shop.example:443/other?a=b', 'shop.example:443'],
  ['https://SHOP.example./hook', 'shop.example:443'],
  ['https://shop.example:8443/hook', 'shop.example:8443'],
  ['https://hooks.shop.example/hook', 'hooks.shop.example:443'],
  ['http://127.0.0.1/hook', '127.0.0.1:80'],
  ['http://[::1]:3000/hook', '[::1]:3000'],
  ['https://k\u00e4se.example/', 'xn--kse-qla.example:443'],
  ['no url', 'no url'],
  ['mailto:a@shop.example', 'mailto:a@shop.example'],
])('%s leads to %s', (url, endpoint) => {
  expect(getEndpoint(url)).toBe(endpoint)
  expect(getEndpoint(url)).toBe(endpoint)
})

test('remembering few of very many URLs changes no answer', () => {
  for (let n = 0; n < 10_000; n += 1) getEndpoint(`https://shop-${n}.example/hook`)
  expect(getEndpoint('https://shop-1.example/other')).toBe('shop-1.example:443')
  expect(getEndpoint('https://shop-9999.example/hook')).toBe('shop-9999.example:443')
})
