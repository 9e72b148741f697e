import { expect, test } from 'vitest'
import { parseUrl } from './parse-url.js'

test('a URL with a letter beyond ASCII is read after any number of calls', () => {
  for (let n = 0; n < 50_000; n += 1) parseUrl(`https://shop.example/${n % 7}`)
  expect(parseUrl('https://bücher.example/')?.href).toBe('https://xn--bcher-kva.example/')
})

test.each(['', '/path', 'shop.example', 'https://', 'https://a b/'])('%j is no absolute URL', (text) => {
  expect(parseUrl(text)).toBeNull()
})
