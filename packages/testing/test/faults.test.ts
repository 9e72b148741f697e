import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createIdentityProvider } from '../src/exports/identity-provider.js'
import { newToken, reuseUri, service, started } from './support.js'

const status = { method: 'GET', uri: '/resources/applicants/none/status' } as const

describe('a fault', () => {
  test('before the request prevents the redemption, after it only loses the answer', async () => {
    const { provider, ask } = await started()
    const token = newToken(provider)
    provider.fail({ on: 'reuse', at: 'before', answer: 'lost' })
    await expect(ask({ uri: reuseUri(token) })).rejects.toThrow()
    expect(provider.redemptions).toEqual([])
    provider.fail({ on: 'reuse', at: 'after', answer: 'lost' })
    await expect(ask({ uri: reuseUri(token) })).rejects.toThrow()
    expect(provider.redemptions).toMatchObject([{ externalUserId: 'pi:1' }])
    expect(provider.requests.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      'reuse null',
      'reuse 200',
    ])
  })

  test('hits the given number of requests of its kind, and no other', async () => {
    const { provider, ask } = await started()
    provider.fail({ on: 'status', at: 'before', answer: 503, times: 2 })
    provider.fail({ on: 'find', at: 'before', answer: 500 })
    for (const answered of [503, 503, 404]) expect((await ask(status)).status).toBe(answered)
    provider.clearFaults()
    const find = { method: 'GET', uri: '/resources/applicants/-;externalUserId=x/one' } as const
    expect((await ask(find)).status).toBe(404)
  })

  test('of a numbered error answers it as the provider does', async () => {
    const { provider, ask } = await started()
    provider.fail({ on: 'reuse', at: 'before', answer: { errorCode: 10516 } })
    expect(await ask({ uri: reuseUri('x') })).toMatchObject({
      status: 400,
      json: { code: 400, errorCode: 10516, errorName: 'reusable-kyc-not-acceptable-age' },
    })
  })

  test.each([
    ['cut-json', 200, (text: string) => text.length > 2 && !text.endsWith('}')],
    ['html', 200, (text: string) => text.startsWith('<!doctype')],
    ['empty', 200, (text: string) => text === ''],
    ['wrong-content-type', 200, (text: string) => text.endsWith('}')],
    ['huge', 200, (text: string) => text.length > 8_000_000],
  ] as const)('%s answers so', async (answer, expected, isSo) => {
    const { provider } = await started()
    provider.fail({ on: 'status', at: 'after', answer })
    const response = await fetch(`${provider.url}${status.uri}`)
    expect(response.status).toBe(expected)
    expect(isSo(await response.text())).toBe(true)
  })

  test('cut-connection breaks in the middle, drip is slow', async () => {
    const { provider } = await started()
    provider.fail({ on: 'status', at: 'after', answer: 'cut-connection' })
    await expect(fetch(`${provider.url}${status.uri}`).then((response) => response.text())).rejects.toThrow()
    provider.fail({ on: 'status', at: 'after', answer: 'drip' })
    const signal = AbortSignal.timeout(300)
    const dripping = fetch(`${provider.url}${status.uri}`, { signal }).then((response) => response.text())
    await expect(dripping).rejects.toThrow(/timeout/)
  })

  test('a redirect has the given address', async () => {
    const { provider } = await started()
    const redirectTo = 'https://elsewhere.test/'
    provider.fail({ on: 'status', at: 'before', answer: { redirectTo } })
    const response = await fetch(`${provider.url}${status.uri}`, { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([307, redirectTo])
  })

  test('that hangs ends when the provider closes', async () => {
    const { provider, ask } = await started()
    provider.fail({ on: 'status', at: 'before', answer: 'hang' })
    const hanging = ask(status)
    const outcome = expect(hanging).rejects.toThrow()
    while (provider.requests.length === 0) await new Promise((passed) => setImmediate(passed))
    await provider.close()
    await outcome
  })
})

describe('without a port', () => {
  const request = (signal?: AbortSignal) =>
    new Request(`https://identity.test${status.uri}`, signal === undefined ? {} : { signal })

  test('a request is answered by the same rules', async () => {
    const { fetch: ask, requests } = createIdentityProvider({ clients: [service] })
    const response = await ask(request())
    expect([response.status, await response.json()]).toMatchObject([401, { errorCode: 4006 }])
    expect(requests).toEqual([{ operation: 'status', method: 'GET', path: status.uri, status: 401 }])
  })

  test('a lost answer rejects, a cut one breaks in its body, and one that hangs ends with its signal', async () => {
    const provider = createIdentityProvider({ clients: [service] })
    provider.fail({ on: 'status', at: 'after', answer: 'lost' })
    await expect(provider.fetch(request())).rejects.toThrow(TypeError)
    provider.fail({ on: 'status', at: 'after', answer: 'cut-connection' })
    const cut = await provider.fetch(request())
    await expect(cut.text()).rejects.toThrow(TypeError)
    for (const answer of ['hang', 'drip'] as const) {
      provider.fail({ on: 'status', at: 'after', answer })
      const read = provider.fetch(request(AbortSignal.timeout(50))).then((response) => response.text())
      await expect(read).rejects.toThrow(/timeout/)
    }
  })

  test('a request that hangs ends with its signal, also when nobody holds the request', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const provider = createIdentityProvider({ clients: [service] })
    provider.fail({ on: 'status', at: 'after', answer: 'hang' })
    const timeUp = AbortSignal.timeout(100)
    const hanging = provider.fetch(request(AbortSignal.any([timeUp, new AbortController().signal])))
    const collecting = setInterval(collect, 10)
    onTestFinished(() => clearInterval(collecting))
    await expect(hanging).rejects.toThrow(/timeout/)
    expect(timeUp.aborted).toBe(true)
  })
})

test('a body of more than 1 MiB is 413, one of 1 MiB is read', async () => {
  const { provider } = await started()
  const post = async (size: number) => (await fetch(provider.url, { method: 'POST', body: ' '.repeat(size) })).status
  expect([await post(1_048_576), await post(4_194_304)]).toEqual([401, 413])
})

test('the 51st POST and the 301st GET of a client within 5 seconds are limited; the next window is free', async () => {
  const { clock, ask } = await started({ rateLimits: true })
  const post = { uri: reuseUri('x') } as const
  const statuses = async (request: Parameters<typeof ask>[0], times: number) =>
    (await Promise.all(Array.from({ length: times }, () => ask(request)))).map(({ status: each }) => each)
  expect((await statuses(post, 51)).filter((each) => each === 429)).toHaveLength(1)
  expect((await statuses(status, 301)).filter((each) => each === 429)).toHaveLength(1)
  const other = { appToken: 'sbx:donor.token', secretKey: 'secret-of-the-donor' }
  expect((await ask({ ...post, by: other })).status).toBe(401)
  clock.advance(5_000)
  expect((await ask(post)).status).toBe(401)
})
