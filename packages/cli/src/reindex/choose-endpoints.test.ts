import type { ChainConfig } from '@payment-integration/server/service'
import { describe, expect, it } from 'vitest'
import { chosenChain, parseEndpoint, withEndpoint } from './choose-endpoints.js'

const chain: ChainConfig = {
  chainId: 1,
  endpoints: [{ url: 'http://a.example' }, { url: 'http://b.example', headsUrl: 'ws://b.example' }],
  routers: [],
  tokens: [],
  priceFeeds: [],
  spokePools: null,
  startBlock: 'head',
  pollMs: 1_000,
  proof: null,
  maxRange: null,
  confirmations: 3,
}

describe('parseEndpoint', () => {
  it.each([
    ['2', { position: 2 }],
    ['http://127.0.0.1:8545', { url: 'http://127.0.0.1:8545' }],
    ['wss://node.example/x?y', { url: 'wss://node.example/x?y' }],
  ])('reads %s', (text, endpoint) => expect(parseEndpoint(text)).toEqual(endpoint))

  it.each([
    '',
    '0',
    '01',
    '-1',
    '1.5',
    'node.example',
    'ipc:///x',
    'http://u:CANARY@a.example',
    'http://a.example,http://CANARY',
  ])('refuses %j, and repeats nothing of it', (text) => {
    expect(() => parseEndpoint(text)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('CANARY') }),
    )
  })
})

describe('withEndpoint', () => {
  const env = { PI_RPC_URL_1: 'http://a.example', PI_HEADS_URL_1: 'ws://a.example', PI_RPC_URL_10: 'http://c.example' }

  it('puts an address in place of the configured ones of that chain', () => {
    expect(withEndpoint(env, 1, { url: 'http://b.example' })).toEqual({
      PI_RPC_URL_1: 'http://b.example',
      PI_HEADS_URL_1: undefined,
      PI_RPC_URL_10: 'http://c.example',
    })
  })

  it('leaves the environment alone otherwise', () => {
    expect(withEndpoint(env, 1, { position: 1 })).toBe(env)
    expect(withEndpoint(env, 1, undefined)).toBe(env)
  })
})

describe('chosenChain', () => {
  it('has the endpoint at the position alone, counted from 1', () => {
    expect(chosenChain([chain], 1, { position: 2 })).toEqual({ ...chain, endpoints: [chain.endpoints[1]] })
    expect(chosenChain([chain], 1, undefined)).toBe(chain)
    expect(chosenChain([chain], 1, { url: 'http://a.example' })).toBe(chain)
  })

  it.each([
    [10, undefined, 'Chain 10 is not configured; set PI_RPC_URL_10, or name a node with --endpoint.'],
    [1, { position: 3 }, 'PI_RPC_URL_1 names 2 endpoint(s), and no number 3.'],
  ])('says what is missing of chain %s with %j', (chainId, endpoint, message) => {
    expect(() => chosenChain([chain], chainId, endpoint)).toThrow(
      expect.objectContaining({ code: 'ERR_USAGE', message }),
    )
  })
})
