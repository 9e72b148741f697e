import { describe, expect, test } from 'vitest'
import { useFront } from '../../test/front.js'
import type { EvmChainOptions } from '../evm-chain.js'
import { createEvmChain } from '../evm-chain.js'
import { createRedactor } from './failures.js'

const key = 'k3y-of-the-node'
const unavailable = { name: 'ChainError', code: 'ERR_CHAIN_UNAVAILABLE' }
const front = await useFront('http://127.0.0.1:1')

function open(options: Partial<EvmChainOptions> = {}) {
  const { port } = new URL(front.url)
  const rpcUrl = `http://us3r:passw0rd@127.0.0.1:${port}/v2/${key}?token=${key}-2`
  const routers = [{ address: `0x${'ab'.repeat(20)}`, version: '0.8' }]
  return createEvmChain({ chainId: 31337, rpcUrl, routers, requestTimeoutMs: 600_000, ...options })
}

describe('the URL', () => {
  const secrets = ['us3r', 'passw0rd', key, key.toUpperCase(), btoa('us3r:passw0rd'), '127.0.0.1', '/v2', 'token=']
  const leaks = (error: unknown) => {
    const { message, stack = '', cause } = error as Error
    return secrets.filter((secret) => `${message}${stack.split('\n')[0]}${JSON.stringify(cause)}`.includes(secret))
  }
  const failure = (options?: Partial<EvmChainOptions>) =>
    open(options)
      .head()
      .catch((reason: unknown) => reason)
  const basic = btoa('us3r:passw0rd')
  test.each([
    ['repeats the key', 200, 1, `bad key ${key} for us3r at https://x.example/v2/${key}\u001b[31m`],
    ['repeats the key as its code', 200, `${key}\u001b[2J`, 'no'],
    ['repeats the credentials in another form', 200, 1, `${key.toUpperCase()} Basic ${basic}`],
    ['repeats the key beside a status', 403, 403, `key ${key}-2 passw0rd`],
  ])('appears in no message and no cause of a JSON-RPC error that %s', async (_, status, code, message) => {
    front.intercept = (_request, response) => {
      const body = JSON.stringify({ id: 1, error: { code, message } })
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    }
    const error = await failure()
    expect(error).toMatchObject(unavailable)
    expect(leaks(error)).toEqual([])
    expect((error as Error).cause).toBeUndefined()
    expect((error as Error).message).not.toContain('\u001b')
  })

  test('appears in no message when the connection fails or stalls', async () => {
    front.intercept = () => undefined
    const stalled = await failure({ requestTimeoutMs: 50 })
    front.intercept = (_request, response) => response.destroy()
    for (const error of [stalled, await failure()]) {
      expect(error).toMatchObject(unavailable)
      expect(leaks(error)).toEqual([])
    }
  })
})

test.each([
  ['https://k3y-of-the-node.nodes.example/', 'k3y-of-the-node'],
  ['https://K3Y-of-the-Node.nodes.example/', 'k3y-of-the-node'],
  ['https://node.example/?k3y-of-the-node', 'k3y-of-the-node'],
  ['https://abc.nodes.example/v2', 'abc.nodes.example'],
])('a key in %s is taken out of what a node writes', (url, secret) => {
  expect(createRedactor(url)(`no access for ${secret}!`)).toBe('no access for [redacted]!')
})

test('redaction keeps ordinary hosts and numbers', () => {
  const text = 'rpc call 12 failed in nodes'
  expect(createRedactor('https://rpc.nodes.example/v2')(text)).toBe(text)
})

test("control and bidirectional characters are removed from a node's text", () => {
  expect(createRedactor(undefined)('a\u0000\u001b[31mb\u009b\u202ec\u2028d\u200be\ud800f')).toBe('a [31mb c d e f')
})

const keyed = createRedactor(`https://node.example/?${key}`)

test('no part of a key is shown where the text is truncated', () => {
  // A URL as long as what is read leaves room for what stands behind it.
  for (let length = 4_040; length <= 4_110; length++) {
    const message = keyed(`https://${'a'.repeat(length)} ${key}${'b'.repeat(500)}`)
    expect(message).toMatch(/^\[url\]( (\[redacted\])?b*)?$/)
  }
  expect(keyed(`${'a'.repeat(5_000)}${key}`)).toBe('a'.repeat(160))
})

test('no part of a URL is shown where the text is truncated', () => {
  for (let length = 4_070; length <= 4_110; length++) {
    const message = keyed(`https://${'a'.repeat(length)} https://user:secret@node.example/`)
    expect(message).toMatch(/^\[url\] ?(h?t{0,2}p?s?:?\/?\/?|\[url\])$/)
  }
})

test.each([
  ['a code that is text', '7', 'JSON-RPC error: no.'],
  ['a code with a fraction', 1.5, 'JSON-RPC error: no.'],
  ['a code beyond exact numbers', 2 ** 60, 'JSON-RPC error: no.'],
  ['no code', undefined, 'JSON-RPC error: no.'],
  ['a code', -32_000, 'JSON-RPC error -32000: no.'],
])('%s', async (_, code, expected) => {
  front.intercept = () => JSON.stringify({ id: 1, error: { code, message: 'no' } })
  await expect(open().head()).rejects.toThrow(`eth_chainId: ${expected}`)
})

test('the URL’s credentials reach the node as a Basic header, and its path and query unchanged', async () => {
  const seen: unknown[] = []
  front.intercept = (_request, response) => {
    seen.push(response.req.url, response.req.headers.authorization)
    return JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })
  }
  await expect(open().head()).rejects.toMatchObject(unavailable)
  expect(seen).toEqual([`/v2/${key}?token=${key}-2`, `Basic ${btoa('us3r:passw0rd')}`])
})
