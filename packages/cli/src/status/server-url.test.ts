import { describe, expect, it } from 'vitest'
import { configuredServerUrl, parseServerUrl } from './server-url.js'

describe('parseServerUrl', () => {
  it.each([
    ['http://127.0.0.1:4747', 'http://127.0.0.1:4747'],
    ['https://shop.example/payments//', 'https://shop.example/payments'],
    ['HTTP://[::1]:80/', 'http://[::1]'],
  ])('reads %s', (text, url) => expect(parseServerUrl(text)).toBe(url))

  it.each([
    '',
    'shop.example',
    'ftp://x',
    'ws://x',
    'http://',
    'http://x/?a',
    'http://x/#a',
    'http://u:CANARY@x',
    'http://CANARY@x',
  ])('refuses %j without repeating it', (text) => {
    expect(() => parseServerUrl(text)).toThrow(/^Expected http/)
  })
})

describe('configuredServerUrl', () => {
  it.each([
    [{}, 'http://127.0.0.1:4747'],
    [{ PI_PORT: '80', PI_HOST: 'shop.local' }, 'http://shop.local:80'],
    [{ PI_HOST: '0.0.0.0' }, 'http://127.0.0.1:4747'],
    [{ PI_HOST: '::', PI_PORT: '1' }, 'http://[::1]:1'],
    [{ PI_HOST: '' }, 'http://127.0.0.1:4747'],
  ])('with %j is %s', (env, url) => expect(configuredServerUrl(env)).toBe(url))

  it.each([{ PI_PORT: '0' }, { PI_PORT: 'x' }, { PI_HOST: 'a b' }])('says that %j leaves it open', (env) => {
    expect(() => configuredServerUrl(env)).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
  })
})
