import { describe, expect, it } from 'vitest'
import { readEndpoints } from './endpoint-variables.js'
import { type Environment, readVariables } from './variables.js'

function read(env: Environment) {
  const variables = readVariables(env)
  return { endpoints: readEndpoints('1', variables), problems: variables.problems }
}

describe('readEndpoints', () => {
  it.each<[Environment, readonly object[]]>([
    [{ PI_RPC_URL_1: 'http://a.example/k' }, [{ url: 'http://a.example/k' }]],
    [
      {
        PI_RPC_URL_1: 'https://a.example , ws://b.example,wss://c.example/%2C',
        PI_HEADS_URL_1: 'wss://a.example/heads',
      },
      [
        { url: 'https://a.example', headsUrl: 'wss://a.example/heads' },
        { url: 'ws://b.example' },
        { url: 'wss://c.example/%2C' },
      ],
    ],
  ])('reads %j, the preferred one first', (env, endpoints) => expect(read(env)).toEqual({ endpoints, problems: [] }))

  it.each<[Environment, string]>([
    [
      { PI_RPC_URL_1: 'nonsense' },
      'PI_RPC_URL_1 is not a URL; expected one that begins with http://, https://, ws:// or wss://, with # and / in a password as %23 and %2F.',
    ],
    [{ PI_RPC_URL_1: 'https://user:12#34@node.example' }, 'as %23 and %2F.'],
    [{ PI_RPC_URL_1: 'https://user:a/b@node.example' }, 'as %23 and %2F.'],
    [{ PI_RPC_URL_1: 'ftp://node.example' }, 'PI_RPC_URL_1 has another scheme than expected; it begins with http://,'],
    [{ PI_RPC_URL_1: 'http:' }, 'PI_RPC_URL_1 is not a URL'],
    [
      { PI_RPC_URL_1: 'http://a.example,,http://b.example' },
      'PI_RPC_URL_1: endpoint 2 of 3 is not a URL; expected one that begins with http://',
    ],
    [{ PI_RPC_URL_1: 'http://a.example, ipc:///b' }, 'PI_RPC_URL_1: endpoint 2 of 2 has another scheme than expected'],
    [
      { PI_RPC_URL_1: 'http://a.example/k,ws://a.example/k,http://a.example/k' },
      'PI_RPC_URL_1: endpoint 3 of 3 is endpoint 1 again; keep one of them.',
    ],
    [
      { PI_RPC_URL_1: 'http://a.example', PI_HEADS_URL_1: 'http://a.example' },
      'PI_HEADS_URL_1 has another scheme than expected; it begins with ws:// or wss://.',
    ],
    [
      { PI_RPC_URL_1: 'http://a.example', PI_HEADS_URL_1: 'ws://a.example,ws://b.example' },
      'PI_HEADS_URL_1 names 2 endpoints and PI_RPC_URL_1 1; the n-th belongs to the n-th.',
    ],
    [{ PI_HEADS_URL_1: 'ws://a.example' }, 'PI_RPC_URL_1 is not set; this chain has other variables'],
  ])('%j is a problem that names the endpoint by its position', (env, problem) => {
    expect(read(env).problems).toEqual([expect.stringContaining(problem)])
  })
})
