import type { ServiceEvent } from '@payment-integration/core'
import { describe, expect, it } from 'vitest'
import { captureLog } from '../../test/support/captured-log.js'
import type { listPriceOverrides } from '../run/open-chain.js'
import { createEventLog, shortenUrls, toErrorFields } from './log.js'

describe('the log', () => {
  it('is one JSON object per line, with time, level and message', async () => {
    const { logger, lines, parsed } = await captureLog()
    logger.warn({ chainId: 1, txHash: '0xab' }, 'Something.')
    expect(lines[0]).toMatch(/^\{.*\}\n$/)
    const time = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(parsed()).toEqual([{ level: 40, time, chainId: 1, txHash: '0xab', msg: 'Something.' }])
  })

  it('drops every field that is not listed', async () => {
    const { logger, lines } = await captureLog()
    const names = ['authorization', 'Authorization', 'body', 'secret', 'apiSecret', 'signature', 'query', 'rpcUrl']
    const fields = {
      ...Object.fromEntries(names.map((name) => [name, 'CANARY'])),
      ...{ headers: { authorization: 'CANARY' }, err: new Error('CANARY'), status: 500 },
    }
    for (const level of ['info', 'warn', 'error'] as const) logger[level](fields, 'x')
    expect(lines).toHaveLength(3)
    expect(lines.join('')).not.toContain('CANARY')
    expect(lines[0]).toContain('"status":500')
  })

  const override: Awaited<ReturnType<typeof listPriceOverrides>>[number] = {
    ...{ chainId: 137, kind: 'token', address: '0x2791bca1f2de4661ed88a30c99a7a9449aa84174' },
    ...{ known: 'USDC.e:USD', configured: 'USDC.e:USDCE' },
  }
  const deposit = { chainId: 1, txHash: '0xab', bridge: 'a', depositId: '7', destinationChainId: 10, flaw: 'amount' }
  const lease = { holder: 'pod-1', endsInMs: 5 }
  it.each([
    ['an override of a shipped token', { ...override }],
    ['a deposit that a fulfillment does not match, and the reason', deposit],
    ['a review of another level, ended waits, and a lease', { levelName: 'a', attachedLevel: 'b', ended: 1, ...lease }],
    ['the addresses of a server, and its DNS servers', { adminUrl: 'http://127.0.0.1:9464', servers: ['127.0.0.1'] }],
  ])('keeps every field of %s', async (_, fields) => {
    const { logger, parsed } = await captureLog()
    logger.warn(fields, 'x')
    expect(parsed()[0]).toMatchObject(fields)
  })

  it('keeps only scheme and host of a URL in a listed field', async () => {
    const { logger, parsed } = await captureLog()
    logger.error({ error: 'GET https://user:CANARY@rpc.example:8545/v3/CANARY?key=CANARY failed (twice)' }, 'x')
    expect(parsed()[0]).toMatchObject({ error: 'GET https://rpc.example:8545 failed (twice)' })
  })
})

describe('toErrorFields', () => {
  it('has class, code, stack frames and causes, and no message', () => {
    const cause = Object.assign(new RangeError('CANARY'), { code: 'ECONNREFUSED', url: 'CANARY' })
    const error = Object.assign(new TypeError('CANARY\n    CANARY', { cause }), { code: 'ERR_X', detail: 'CANARY' })
    const described = toErrorFields(error)
    expect(described).toMatchObject({ error: 'TypeError', code: 'ERR_X', causes: ['RangeError ECONNREFUSED'] })
    expect(described.stack).toContain('log.test.ts')
    expect(JSON.stringify(described)).not.toContain('CANARY')
  })

  it('accepts any thrown value', () => {
    expect(toErrorFields('CANARY')).toEqual({ error: 'string', code: null, stack: '', causes: [] })
    expect(toErrorFields(undefined)).toMatchObject({ error: 'undefined' })
    const ring = new Error('a')
    ring.cause = ring
    expect(toErrorFields(ring).causes).toHaveLength(5)
    expect(toErrorFields(Object.assign(new Error('a'), { code: 'CANARY value' })).code).toBeNull()
  })
})

const integrationAddress = `0x${'cd'.repeat(20)}`
const txHash = `0x${'12'.repeat(32)}`
const payment = { chainId: 137, txHash, integrationAddress, version: 2, deliveryId: '7' }

/** The log lines of an event, through the real logger and its list of fields. */
async function getLines(event: ServiceEvent) {
  const { logger, parsed } = await captureLog()
  createEventLog(logger)(event)
  return parsed().map(({ time: _, ...fields }) => fields)
}

const [info, warn] = [30, 40]

it.each([
  [
    { type: 'endpoint.failing', integrationAddress, failures: 5, blockedUntil: 5_000, failingMs: 61_000 },
    { level: warn, eventType: 'endpoint.failing', integrationAddress, failingMs: 61_000 },
  ],
  [
    { type: 'endpoint.recovered', integrationAddress, failingMs: 61_000 },
    { level: info, eventType: 'endpoint.recovered', integrationAddress, failingMs: 61_000 },
  ],
  [
    { type: 'payment.additional', ordinal: 1, blockNumber: 7, chainId: 137, txHash, integrationAddress },
    { level: warn, eventType: 'payment.additional', integrationAddress, chainId: 137, txHash, ordinal: 1 },
  ],
  [
    { type: 'delivery.exhausted', reason: 'status_410', ...payment },
    { level: warn, eventType: 'delivery.exhausted', reason: 'status_410', ...payment },
  ],
  [
    { type: 'audit.head', seq: 12, at: 1, hash: 'ab'.repeat(32) },
    { level: info, eventType: 'audit.head', seq: 12, hash: 'ab'.repeat(32) },
  ],
] as const satisfies readonly (readonly [ServiceEvent, object])[])('%j is one line', async (event, fields) => {
  expect(await getLines(event)).toEqual([{ ...fields, msg: expect.stringMatching(/[a-z].*[.]$/) }])
})

it('does not log frequent events', async () => {
  const indexed = { blockNumber: 1, blockTimestamp: 0, chainId: 1, txHash, integrationAddress }
  expect(await getLines({ type: 'payment.indexed', ...indexed })).toEqual([])
  const nobodys = { chainId: 1, txHash, integrationAddress: null }
  expect(await getLines({ type: 'payment.additional', ordinal: 1, blockNumber: 1, ...nobodys })).toEqual([])
  expect(await getLines({ type: 'chain.indexed', chainId: 1, blockNumber: 1, head: 1 })).toEqual([])
})

it.each([
  ['GET https://user:secret@a.example:8545/v3/secret?key=secret failed', 'GET https://a.example:8545 failed'],
  ['wss://secret@[::1]:80/#secret', 'wss://[::1]:80'],
  ['"http://a.example/secret" and <https://b.example?secret>', '"http://a.example" and <https://b.example>'],
  ['https://user:p@secret@a.example/', 'https://a.example'],
  ["https://user:pa'secret@node.example/v3/secret failed", 'https://node.example failed'],
  ['https://user:se"cr<et>@secret\'s@a.example/secret', 'https://a.example'],
  ["'https://a.example/secret' and 'https://user@b.example'", "'https://a.example' and 'https://b.example'"],
  ['https://user:secret/@a.example/', 'https://'],
  ['https://', 'https://'],
  ['no URL: a://', 'no URL: a://'],
])('%s is shown as %s', (text, expected) => {
  expect(shortenUrls(text)).toBe(expected)
})

describe('a text of more than 4,096 characters', () => {
  it('is cut', () => {
    expect(shortenUrls('a'.repeat(4_096))).toBe('a'.repeat(4_096))
    expect(shortenUrls('a'.repeat(4_097))).toBe(`${'a'.repeat(4_096)}…`)
  })

  it.each(['https://user:secret@a.example/secret', "https://user:pass'secret@a.example/secret"])(
    'shows no part of a user or a path at the cut, wherever it splits %s',
    (url) => {
      for (let before = 4_096 - url.length - 1; before < 4_096; before++) {
        const shown = shortenUrls(`${'.'.repeat(before)} ${url}${'b'.repeat(100)}`)
        expect(shown).not.toMatch(/user|secre|@/)
        expect(shown.length).toBeLessThanOrEqual(4_097)
      }
    },
  )
})
