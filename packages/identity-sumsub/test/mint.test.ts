import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { mintShareToken, ProviderError } from '../src/exports/index.js'
import { answering, catchError, donor, started } from './support.js'

describe('minting a share token', () => {
  test('gives one that the service redeems, with the requested time to live', async () => {
    const { local, clock, connection, provider } = await started()
    const { id: applicantId } = local.addApplicant({ clientId: 'DonorCo' })
    const options = { ...connection(donor), applicantId, forClientId: 'ServiceCo' }
    const shareToken = await mintShareToken(options)
    expect(await provider().redeem({ shareToken, externalUserId: 'pi:1' })).toMatchObject({ externalUserId: 'pi:1' })
    const short = await mintShareToken({ ...options, ttlInSecs: 5 })
    clock.advance(5_000)
    const error = await catchError(provider().redeem({ shareToken: short, externalUserId: 'pi:2' }))
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_TOKEN_REJECTED' })
  })

  test('sends one signed POST with the parameters in the query and no body', async () => {
    const { baseUrl, requests } = await answering(200, { token: 'T' })
    const options = { appToken: 'a', secretKey: 's', baseUrl, applicantId: 'a b', forClientId: 'c&d' }
    expect(await mintShareToken({ ...options, ttlInSecs: 60 })).toBe('T')
    expect(requests).toEqual(['POST /resources/accessTokens/shareToken?applicantId=a+b&forClientId=c%26d&ttlInSecs=60'])
  })

  test.each([
    ['another secret key', { secretKey: 'wrong' }, 4003],
    ['another app token', { appToken: 'sbx:wrong' }, 4001],
    ['a wrong clock', { clock: { now: () => 0 } }, 4004],
    ['an unknown applicant', { applicantId: 'none' }, null],
    ['a client that is no partner', { forClientId: 'Nobody' }, 10501],
  ])('%s is a matter of the set-up, not of a token', async (_, change, providerCode) => {
    const { local, connection } = await started()
    const { id: applicantId } = local.addApplicant({ clientId: 'DonorCo' })
    const call = mintShareToken({ ...connection(donor), applicantId, forClientId: 'ServiceCo', ...change })
    expect(await catchError(call)).toMatchObject({ code: 'ERR_PROVIDER_SETUP', retryable: false, providerCode })
  })

  test.each([{ token: '' }, { token: 1 }, { token: null }, {}, [], 'x', null])(
    'the answer %j holds no token',
    async (body) => {
      const { baseUrl } = await answering(200, body)
      const call = mintShareToken({ appToken: 'a', secretKey: 's', baseUrl, applicantId: 'a', forClientId: 'c' })
      expect(await catchError(call)).toMatchObject({ code: 'ERR_PROVIDER_ANSWER' })
    },
  )
})

describe('a malformed option is rejected before any request', () => {
  const options = { appToken: 'a', secretKey: 's', applicantId: 'a', forClientId: 'c' }

  test.each([
    ['appToken', ''],
    ['appToken', ' '],
    ['appToken', ' a'],
    ['appToken', 'a\r\nX-Evil: 1'],
    ['appToken', 'ключ'],
    ['appToken', undefined],
    ['secretKey', ''],
    ['secretKey', 's\n'],
    ['secretKey', 1],
    ['applicantId', ''],
    ['forClientId', '\t'],
    ['baseUrl', 'http://api.sumsub.com'],
    ['baseUrl', 'https://user:pass@api.sumsub.com'],
    ['baseUrl', 'https://api.sumsub.com?x'],
    ['baseUrl', 'api.sumsub.com'],
    ['baseUrl', 'file:///etc/passwd'],
    ['baseUrl', 'http://localhost.evil.example'],
  ])('%s %j is a TypeError', async (name, value) => {
    const fetch = vi.fn()
    const error = await catchError(mintShareToken({ ...options, fetch, [name]: value }))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).not.toBeInstanceOf(ProviderError)
    expect(fetch).not.toHaveBeenCalled()
  })

  test.each([
    ['ttlInSecs', 0],
    ['ttlInSecs', -1],
    ['ttlInSecs', 1.5],
    ['ttlInSecs', Number.NaN],
    ['ttlInSecs', Number.POSITIVE_INFINITY],
    ['ttlInSecs', '60'],
    ['timeoutMs', 0],
    ['timeoutMs', Number.NaN],
    ['timeoutMs', 2_147_483_648],
  ])('%s %j is a RangeError', async (name, value) => {
    const fetch = vi.fn()
    expect(await catchError(mintShareToken({ ...options, fetch, [name]: value }))).toBeInstanceOf(RangeError)
    expect(fetch).not.toHaveBeenCalled()
  })

  test.each([
    ['a page', 'document', {}],
    ['a worker of a page', 'importScripts', () => undefined],
  ])('%s must not hold a secret key', async (_, name, value) => {
    Object.defineProperty(globalThis, name, { value, configurable: true })
    onTestFinished(() => void Reflect.deleteProperty(globalThis, name))
    const fetch = vi.fn()
    const error = await catchError(mintShareToken({ ...options, fetch }))
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toContain('browser')
    expect(fetch).not.toHaveBeenCalled()
  })
})
