import { expect, test } from 'vitest'
import { getEndpoint } from './endpoint-health.js'

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
