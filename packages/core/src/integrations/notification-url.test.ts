import { describe, expect, it } from 'vitest'
import { parseNotificationUrl } from './notification-url.js'

describe('parseNotificationUrl', () => {
  it.each([
    ['https://shop.example/webhook', 'https://shop.example/webhook'],
    ['https://SHOP.example:8443/a?b=c', 'https://shop.example:8443/a?b=c'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ])('accepts %s', (text, url) => expect(parseNotificationUrl(text, false)).toBe(url))

  it.each([
    'http://shop.example/',
    'ftp://shop.example/',
    'shop.example',
    '',
    'https://user:pass@shop.example/',
    'https://user@shop.example/',
    'https://shop.example/#part',
    'https://localhost/',
    'https://intranet/',
    'https://printer.local/',
    'https://db.internal/',
    'https://shop.example./',
    'https://a..example/',
    'https://under_score.example/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://１２７.0.0.1/',
    'https://8.8.8.8/',
    'https://[::1]/',
    'https://[2001:db8::1]/',
    `https://shop.example/${'a'.repeat(2_050)}`,
  ])('refuses %.60s with ERR_URL_INVALID', (text) => {
    expect(() => parseNotificationUrl(text, false)).toThrow(expect.objectContaining({ code: 'ERR_URL_INVALID' }))
  })

  it('accepts http to this machine in dev, and only there', () => {
    expect(parseNotificationUrl('http://127.0.0.1:9000/hook', true)).toBe('http://127.0.0.1:9000/hook')
    expect(parseNotificationUrl('http://localhost:9000/hook', true)).toBe('http://localhost:9000/hook')
    expect(() => parseNotificationUrl('http://127.0.0.1:9000/hook', false)).toThrow()
    expect(() => parseNotificationUrl('http://10.0.0.1/hook', true)).toThrow()
    expect(() => parseNotificationUrl('http://shop.example/hook', true)).toThrow()
  })
})
