import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { mintShareToken } from '../src/exports/index.js'
import { createSumsubClient, createWebhookReader } from '../src/exports/service.js'
import { catchError, donor, newToken, service, started } from './support.js'

/** Every form in which an error may appear in a log. */
function printed(error: unknown): string {
  const fields = error as Error & Record<string, unknown>
  const inherited: unknown[] = []
  for (const key in fields) inherited.push(key, fields[key])
  return [
    String(fields),
    fields.stack,
    JSON.stringify(fields),
    JSON.stringify(fields, Object.getOwnPropertyNames(fields)),
    JSON.stringify({ ...fields }),
    inspect(fields, { depth: 10, showHidden: true }),
    inspect(fields, { depth: 10, getters: true }),
    inspect(Object.getOwnPropertyDescriptors(fields), { depth: 10 }),
    inspect(structuredClone(fields), { depth: 10, showHidden: true }),
    inspect(inherited, { depth: 10 }),
    inspect(fields['cause'], { depth: 10 }),
  ].join('\n')
}

/** A fetch that records tokens and signatures, which no error may show. */
function noting() {
  const noted: string[] = []
  const noting: typeof fetch = (input, init) => {
    const url = new URL(String(input))
    noted.push(url.search, ...url.searchParams.getAll('shareToken'))
    noted.push(new Headers(init?.headers).get('x-app-access-sig') ?? '')
    return fetch(input, init)
  }
  return { fetch: noting, noted: () => noted.filter((text) => text !== '') }
}

/** Only endless answers need a short timeout. */
const timeoutFor = (answer: unknown) => (answer === 'hang' ? 300 : 600_000)

const faults = [
  ...(['lost', 'hang', 'cut-json', 'cut-connection', 'html', 'empty', 'huge'] as const),
  ...[400, 401, 403, 404, 409, 429, 500],
  ...([{ errorCode: 10512 }, { errorCode: 4003 }, { redirectTo: 'http://127.0.0.1:9/' }] as const),
]

describe('no error shows a secret, a token, a signature or personal data', () => {
  test.each(faults)('%j on a redemption', async (answer) => {
    const { local, provider } = await started()
    const { fetch: send, noted } = noting()
    const shareToken = newToken(local)
    local.fail({ on: 'reuse', at: 'after', answer })
    const identity = provider({ fetch: send, timeoutMs: timeoutFor(answer) })
    const text = printed(await catchError(identity.redeem({ shareToken, externalUserId: 'canary-name' })))
    const canaries = [...noted(), shareToken, service.appToken, service.secretKey, 'canary', 'Mock-Doe']
    expect(noted()).toHaveLength(3)
    expect(canaries.filter((canary) => text.includes(canary))).toEqual([])
  })

  test.each(faults)('%j on minting', async (answer) => {
    const { local, connection } = await started()
    const { id: applicantId } = local.addApplicant({ clientId: 'DonorCo' })
    local.fail({ on: 'mint', at: 'after', answer })
    const { fetch: send, noted } = noting()
    const options = { applicantId, forClientId: 'ServiceCo', fetch: send, timeoutMs: timeoutFor(answer) }
    const text = printed(await catchError(mintShareToken({ ...connection(donor), ...options })))
    const canaries = [...noted(), donor.appToken, donor.secretKey, 'canary', 'eyJ', '_act']
    expect(canaries.filter((canary) => text.includes(canary))).toEqual([])
  })

  test("a rejected token: only providerMessage shows the provider's description, which has the token's id", async () => {
    const { local, clock, provider } = await started()
    const shareToken = newToken(local, 5)
    clock.advance(5_000)
    const error = (await catchError(provider().redeem({ shareToken, externalUserId: 'pi:1' }))) as {
      providerMessage: string
    }
    const [, id = ''] = /Token (_act-\w+) is invalid now/.exec(error.providerMessage) ?? []
    expect(id).toMatch(/^_act-\w+$/)
    const text = printed(error)
    expect([id, shareToken, 'invalid now'].filter((canary) => text.includes(canary))).toEqual([])
    expect(Object.keys(error)).not.toContain('providerMessage')
  })

  test('a fetch whose error repeats the whole request', async () => {
    const { provider } = await started()
    const canary = `canary ${service.secretKey} in the words of a network`
    const send = () => Promise.reject(new Error(canary, { cause: { canary } }))
    const error = await catchError(provider({ fetch: send }).redeem({ shareToken: 't', externalUserId: 'pi:1' }))
    expect(error).toMatchObject({ code: 'ERR_PROVIDER_UNAVAILABLE' })
    expect(printed(error)).not.toContain('canary')
  })

  test('a rejected webhook', async () => {
    const read = createWebhookReader({ secret: 'canary-webhook-secret' })
    const body = new TextEncoder().encode('{"canary":1}')
    for (const digest of ['canary-digest', 'a'.repeat(64)])
      for (const algorithm of ['canary-algorithm', 'HMAC_SHA256_HEX', 'HMAC_SHA1_HEX'])
        expect(printed(await catchError(read({ body, digest, algorithm })))).not.toContain('canary')
  })

  test('a malformed credential', () => {
    const rejection = (change: object) => {
      try {
        return createSumsubClient({ appToken: 'a', secretKey: 's', levelName: 'l', ...change })
      } catch (caught) {
        return caught
      }
    }
    for (const change of [
      ...[{ appToken: ' canary' }, { appToken: 'canary\n' }, { appToken: 'canary ключ' }, { secretKey: 'canary ' }],
      ...[{ levelName: '\tcanary' }, { baseUrl: 'https://canary:canary@example.com' }, { baseUrl: 'ftp://canary' }],
    ]) {
      const error = rejection(change)
      expect(error).toBeInstanceOf(TypeError)
      const { message } = error as Error
      expect([message, JSON.stringify(error), inspect(Object.entries(error as Error))].join()).not.toContain('canary')
    }
  })
})
