import { describe, expect, test } from 'vitest'
import { apiSecret, catchError, encodedSecret, getClient, integrationAddress, page, payment } from '../test/fixtures.js'
import { apiKey, getLegacyClient, lookup, txHash, verified } from '../test/legacy-fixtures.js'
import { email, kycShareToken, shareResponse } from '../test/share-fixtures.js'
import type { ClientOptions, ClientWarning } from './exports/index.js'

const baseUrl = 'https://payments.example.com'

/** Answers requests with these bodies in turn, then always with the last. */
function answering(...bodies: readonly unknown[]) {
  let at = -1
  return async () => {
    at = Math.min(at + 1, bodies.length - 1)
    return Response.json(bodies[at])
  }
}

function watched(bodies: readonly unknown[], options: Partial<ClientOptions> = {}) {
  const warnings: ClientWarning[] = []
  const onWarning = (each: ClientWarning) => void warnings.push(each)
  return { client: getClient(baseUrl, { fetch: answering(...bodies), onWarning, ...options }), warnings }
}

function watchedLegacy(...bodies: readonly unknown[]) {
  const warnings: ClientWarning[] = []
  const onWarning = (each: ClientWarning) => void warnings.push(each)
  return { client: getLegacyClient(baseUrl, { fetch: answering(...bodies), onWarning }), warnings }
}

/** A page of these payments alone. */
const list = (payments: readonly object[]) => ({ payments, nextCursor: null })
const disputed = { ...payment(1), state: 'disputed' }
const grown = { ...payment(1), tokenOut: { ...payment(1).tokenOut, decimals: 6 }, risk: 'low' }

describe('an unknown field or value', () => {
  test('is returned unchanged, with a warning for each', async () => {
    const body = { payments: [disputed, grown], nextCursor: null, total: 2 }
    const { client, warnings } = watched([body])
    expect(await client.payments.list()).toEqual(body)
    expect(warnings.map(({ kind, path, value }) => [kind, path, value])).toEqual([
      ['unknown_value', 'payments.*.state', 'disputed'],
      ['unknown_field', 'payments.*.tokenOut.decimals', null],
      ['unknown_field', 'payments.*.risk', null],
      ['unknown_field', 'total', null],
    ])
    expect(warnings[0]?.message).toBe(
      'payments.*.state is "disputed", which this version does not know. It is passed on. The service is newer than this package: update it.',
    )
    expect(warnings[1]?.message).toContain('payments.*.tokenOut.decimals')
  })

  test('is reported once over all calls of a client', async () => {
    const { client, warnings } = watched([list([disputed, disputed])])
    await client.payments.list()
    await client.payments.list()
    expect(warnings).toHaveLength(1)
    const other = watched([list([disputed, { ...disputed, state: 'held' }])])
    await other.client.payments.list()
    expect(other.warnings.map(({ value }) => value)).toEqual(['disputed', 'held'])
  })

  test('is reported for the first hundred, and for no more', async () => {
    const fields = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`field${n}`, n]))
    const { client, warnings } = watched([{ ...page([1]), ...fields }])
    await client.payments.list()
    expect(warnings).toHaveLength(100)
  })

  test('is not reported without onWarning', async () => {
    const client = getClient(baseUrl, { fetch: answering(list([disputed])) })
    expect((await client.payments.list()).payments[0]?.state).toBe('disputed')
  })

  test('is reported for every kind of answer', async () => {
    const one = watched([disputed])
    await one.client.payments.get(payment(1).txHash)
    expect(one.warnings).toMatchObject([{ path: 'state', value: 'disputed' }])
    const shared = watched([{ ...shareResponse(), reviewStatus: 'awaitingUser', level: 'basic' }])
    await shared.client.identity.share({ email, kycShareToken })
    expect(shared.warnings).toMatchObject([{ path: 'reviewStatus', value: 'awaitingUser' }, { path: 'level' }])
    const { client, warnings } = watchedLegacy({ ...lookup(), block: 1 }, { ...verified(), block: 1 })
    await client.lookup({ chainId: 137, txHash })
    await client.verify({ chainId: 137, txHash, invoiceAmount: '1', invoiceCurrency: 'CHF', address: 'mara' })
    expect(warnings).toMatchObject([{ path: 'block' }])
  })

  test('does not hide a missing or malformed field, which is an error', async () => {
    const { client } = watched([list([{ ...disputed, txHash: 1 }])])
    expect(await catchError(client.payments.list())).toMatchObject({ reason: 'schema', path: 'payments.0.txHash' })
    const empty = watched([list([{ ...disputed, state: '' }])])
    expect(await catchError(empty.client.payments.list())).toMatchObject({ reason: 'schema', path: 'payments.0.state' })
  })
})

describe('a strict client', () => {
  test.each<[string, unknown, object]>([
    ['an unknown state', list([disputed]), { reason: 'unknown_value', path: 'payments.*.state' }],
    ['an unknown field', { ...page([1]), total: 1 }, { reason: 'unknown_field', path: 'total' }],
    ['an unknown nested field', list([grown]), { reason: 'unknown_field', path: 'payments.*.tokenOut.decimals' }],
  ])('rejects %s', async (_case, body, expected) => {
    const { client, warnings } = watched([body], { strict: true })
    const error = await catchError(client.payments.list())
    expect(error).toMatchObject({ code: 'ERR_RESPONSE_INVALID', status: 200, retryable: false, ...expected })
    expect((error as Error).message).toContain('the client is strict')
    expect(warnings).toEqual([])
  })

  test('accepts every field of the contract', async () => {
    expect(await watched([page([1, 2])], { strict: true }).client.payments.list()).toEqual(page([1, 2]))
  })
})

describe('a secret in an answer', () => {
  const secrets = { [apiSecret]: 1, [encodedSecret]: 1, [`Basic ${encodedSecret}`]: 1 }

  test('appears in no warning and in no error of a strict client', async () => {
    const body = list([{ ...payment(1), state: apiSecret.toUpperCase(), ...secrets }])
    const { client, warnings } = watched([body])
    await client.payments.list()
    expect(warnings.map(({ value, path }) => value ?? path)).toEqual(['[hidden]', 'payments.*.[hidden]'])
    const error = await catchError(watched([body], { strict: true }).client.payments.list())
    for (const text of [JSON.stringify(warnings), JSON.stringify(error), String(error), (error as Error).stack ?? ''])
      for (const secret of [apiSecret, encodedSecret]) expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
  })

  test('is hidden too when it is the address or token of a share, or an API key', async () => {
    const { client, warnings } = watched([{ ...shareResponse(), reviewStatus: email, [kycShareToken]: 1 }])
    await client.identity.share({ email, kycShareToken })
    expect(warnings.map(({ value, path }) => value ?? path)).toEqual(['[hidden]', '[hidden]'])
    const legacy = watchedLegacy({ ...lookup(), [apiKey]: 1 })
    await legacy.client.lookup({ chainId: 137, txHash })
    expect(legacy.warnings.map(({ path }) => path)).toEqual(['[hidden]'])
  })

  test.each([
    ['\n2026-01-02 INFO paid', '"\\n2026-01-02 INFO paid"'],
    ['a.b', '"a.b"'],
    ['say "x"', '"say \\"x\\""'],
    ['\u001b[31m', '"\\u001b[31m"'],
    ['\u0085\u2028\u202e', '"\\u0085\\u2028\\u202e"'],
    ['', '""'],
  ])('the field name %j is quoted within one line', async (name, shown) => {
    const body = { payments: [{ ...payment(1), [name]: 1 }], nextCursor: null }
    const { client, warnings } = watched([body])
    await client.payments.list()
    expect(warnings).toMatchObject([{ path: `payments.*.${shown}` }])
    expect(warnings[0]?.message).toContain(`know: payments.*.${shown}. It is kept.`)
    const error = (await catchError(watched([body], { strict: true }).client.payments.list())) as Error
    expect(error).toMatchObject({ path: `payments.*.${shown}` })
    for (const message of [warnings[0]?.message, error.message]) expect(message).toMatch(/^[ -~]+$/)
  })

  test('an unknown value is quoted within one line of the message, and verbatim in value', async () => {
    const state = 'held\n\u009b31m"paid"'
    const { client, warnings } = watched([list([{ ...disputed, state }])])
    await client.payments.list()
    expect(warnings).toMatchObject([{ value: state }])
    expect(warnings[0]?.message).toContain('state is "held\\n\\u009b31m\\"paid\\"", which')
  })

  test('a long value is truncated', async () => {
    const { client, warnings } = watched([list([{ ...disputed, state: 'x'.repeat(1_000) }])])
    await client.payments.list()
    expect(warnings[0]?.value).toBe('x'.repeat(64))
  })
})

test.each<object>([{ onWarning: 'console' }, { strict: 'yes' }])('the options %j are a TypeError', (options) => {
  expect(() => getClient(baseUrl, { integrationAddress, ...options })).toThrow(TypeError)
})

test('an error of onWarning is rethrown unchanged', async () => {
  const bug = new ReferenceError('log is not defined')
  const fail = () => {
    throw bug
  }
  expect(await catchError(watched([{ ...page([1]), total: 1 }], { onWarning: fail }).client.payments.list())).toBe(bug)
})
