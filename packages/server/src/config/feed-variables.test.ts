import { describe, expect, it } from 'vitest'
import { ConfigError } from './config.js'
import { describeConfig } from './describe-config.js'
import { readFeedPublisherConfig } from './feed-variables.js'
import { readConfig } from './read-config.js'

const PI_MASTER_KEY = '8d1070e587d50918b21bbdaaac32e4e0f0770414897be050dc71c1dac9d42db5'
const PI_RPC_URL_1 = 'http://node.example'

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('the feed', () => {
  it('has several servers of one scheme, and files for credentials and certificates', () => {
    const PI_FEED_URL = 'tls://nats-1:4222, tls://nats-2:4222'
    const files = { PI_FEED_CREDENTIALS_FILE: '/run/secrets/feed', PI_FEED_CA_FILE: '/etc/feed-ca.pem' }
    const config = readConfig({ PI_MASTER_KEY, PI_FEED_URL, ...files })
    expect(config.feed).toEqual({
      servers: ['tls://nats-1:4222', 'tls://nats-2:4222'],
      credentialsFile: '/run/secrets/feed',
      caFile: '/etc/feed-ca.pem',
    })
    expect(describeConfig(config).feed).toEqual(['tls://nats-1:4222', 'tls://nats-2:4222'])
    expect(describeConfig(readConfig({ PI_MASTER_KEY })).feed).toBe('off')
  })

  it.each([
    [{ PI_FEED_URL: 'http://nats:4222' }, 'PI_FEED_URL has an unusable address'],
    [{ PI_FEED_URL: 'nats-1:4222' }, 'PI_FEED_URL has an unusable address'],
    [{ PI_FEED_URL: 'nats://me:secret@nats:4222' }, 'PI_FEED_URL has an unusable address'],
    [{ PI_FEED_URL: 'nats://nats-1,' }, 'PI_FEED_URL has an unusable address'],
    [{ PI_FEED_URL: 'nats://nats-1,tls://nats-2' }, 'PI_FEED_URL mixes nats:// and tls://'],
    [
      { PI_FEED_URL: 'nats://nats-1', PI_FEED_CA_FILE: '/ca.pem' },
      'PI_FEED_CA_FILE is set; it is only used with tls://',
    ],
    [{ PI_FEED_CREDENTIALS_FILE: '/f' }, 'PI_FEED_CREDENTIALS_FILE is set; it is only used with PI_FEED_URL'],
  ])('%o is a problem without its values', (env, expected) => {
    const problems = problemsOf(() => readConfig({ PI_MASTER_KEY, ...env }))
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(expected)
    expect(problems[0]).not.toContain('secret')
  })

  it('needs servers and chains for a publisher, and no master key', () => {
    const config = readFeedPublisherConfig({ PI_RPC_URL_1, PI_FEED_URL: 'nats://nats-1:4222' })
    expect(config).toMatchObject({ chains: [{ chainId: 1 }], feed: { credentialsFile: null, caFile: null } })
    expect(problemsOf(() => readFeedPublisherConfig({}))).toEqual([
      expect.stringContaining('PI_FEED_URL is not set'),
      expect.stringContaining('No PI_RPC_URL_<chainId> is set'),
    ])
    expect(problemsOf(() => readFeedPublisherConfig({ PI_RPC_URL_1, PI_FEED_URL: 'nats://' }))).toHaveLength(1)
  })
})
