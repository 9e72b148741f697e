import { describe, expect, it } from 'vitest'
import type { PriceOverride } from '../run/open-chain.js'
import { createPinoLogger, toErrorFields } from './log.js'

async function capture(level: 'debug' | 'info' | 'silent' = 'info') {
  const lines: string[] = []
  const logger = await createPinoLogger({ level, destination: { write: (line: string) => lines.push(line) } })
  return { logger, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('the log', () => {
  it('is one JSON object per line, with time, level and message', async () => {
    const { logger, lines, parsed } = await capture()
    logger.warn({ chainId: 1, txHash: '0xab' }, 'Something.')
    expect(lines[0]).toMatch(/^\{.*\}\n$/)
    expect(parsed()).toEqual([
      { level: 40, time: expect.stringMatching(/^\d{4}-.*Z$/), chainId: 1, txHash: '0xab', msg: 'Something.' },
    ])
  })

  it('drops every field that is not listed', async () => {
    const { logger, lines } = await capture()
    const fields = {
      authorization: 'CANARY',
      Authorization: 'CANARY',
      headers: { authorization: 'CANARY' },
      body: 'CANARY',
      secret: 'CANARY',
      apiSecret: 'CANARY',
      signature: 'CANARY',
      query: 'CANARY',
      rpcUrl: 'CANARY',
      err: new Error('CANARY'),
      status: 500,
    }
    for (const level of ['info', 'warn', 'error'] as const) logger[level](fields, 'x')
    expect(lines).toHaveLength(3)
    expect(lines.join('')).not.toContain('CANARY')
    expect(lines[0]).toContain('"status":500')
  })

  it('keeps every field of an override of a shipped token', async () => {
    const { logger, parsed } = await capture()
    const override: PriceOverride = {
      chainId: 137,
      kind: 'token',
      address: '0x2791bca1f2de4661ed88a30c99a7a9449aa84174',
      known: 'USDC.e:USD',
      configured: 'USDC.e:USDCE',
    }
    logger.warn({ ...override }, 'x')
    expect(parsed()[0]).toMatchObject(override)
  })

  it('keeps the deposit that a fulfilment does not match, and the reason', async () => {
    const { logger, parsed } = await capture()
    const fields = {
      chainId: 1,
      txHash: '0xab',
      bridge: 'across',
      depositId: '7',
      destinationChainId: 10,
      flaw: 'amount',
    }
    logger.error(fields, 'x')
    expect(parsed()[0]).toMatchObject(fields)
  })

  it('keeps only scheme and host of a URL in a listed field', async () => {
    const { logger, parsed } = await capture()
    logger.error({ error: 'GET https://user:CANARY@rpc.example:8545/v3/CANARY?key=CANARY failed (twice)' }, 'x')
    expect(parsed()[0]).toMatchObject({ error: 'GET https://rpc.example:8545 failed (twice)' })
  })
})

describe('toErrorFields', () => {
  it('has class, code, stack frames and causes, and no message', () => {
    const cause = Object.assign(new RangeError('CANARY'), { code: 'ECONNREFUSED', url: 'CANARY' })
    const error = Object.assign(new TypeError('CANARY\n    CANARY line', { cause }), {
      code: 'ERR_X',
      detail: 'CANARY',
    })
    const described = toErrorFields(error)
    expect(described).toMatchObject({ error: 'TypeError', code: 'ERR_X', causes: ['RangeError ECONNREFUSED'] })
    expect(described.stack).toContain('pino-logger.test.ts')
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
