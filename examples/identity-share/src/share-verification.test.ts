/** Mint, share, and share again: a server on SQLite beside an identity provider, both over HTTP. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient, ShareTokenRejectedError } from '@payment-integration/client'
import { mintShareToken } from '@payment-integration/identity-sumsub'
import { type RunningServer, readConfig, startServer } from '@payment-integration/server/service'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startProgram, whenEnded } from '../../../packages/testing/test/run-program.js'
import { shareVerification } from './share-verification.js'

const shop = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Payments'] }
const payments = { clientId: 'Payments', appToken: 'sbx:it', secretKey: 'secret-of-it', partners: ['Shop'] }
const webhookSecret = 'secret-of-the-webhook'
const addressOfShop = `0x${'a1'.repeat(20)}`

let folder: string
let provider: Awaited<ReturnType<typeof startIdentityProvider>>
let server: RunningServer
let apiSecret: string
let client: Client
let ahead = 0
/** Applicants that the shop approved, one for each user. */
let applicantId: string
let email: string
let users = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'identity-share-'))
  provider = await startIdentityProvider({ clients: [shop, payments], clock: { now: () => Date.now() + ahead } })
  const config = readConfig({
    PI_ENV: 'development',
    PI_PORT: '0',
    PI_LOG_LEVEL: 'silent',
    PI_DATABASE_URL: `sqlite:${join(folder, 'payments.db')}`,
    PI_MASTER_KEY: randomBytes(32).toString('hex'),
    PI_IDENTITY_URL: provider.url,
    PI_IDENTITY_APP_TOKEN: payments.appToken,
    PI_IDENTITY_SECRET_KEY: payments.secretKey,
    PI_IDENTITY_LEVEL: 'basic-kyc-level',
    PI_IDENTITY_WEBHOOK_SECRETS: webhookSecret,
  })
  server = await startServer(config)
  provider.setWebhooks('Payments', [
    { url: `${server.url}/api/v1/identity-provider/webhook`, secretKey: webhookSecret },
  ])
  apiSecret = (await server.service.integrations.create({ address: addressOfShop })).apiSecret
  client = createClient({ baseUrl: server.url, integrationAddress: addressOfShop, apiSecret })
})

afterAll(async () => {
  await server?.stop()
  await provider?.close()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(() => {
  users += 1
  email = `user${users}@shop.example`
  applicantId = provider.addApplicant({ clientId: 'Shop' }).id
})

const mint = (options: { readonly ttlInSecs?: number } = {}) =>
  mintShareToken({ ...shop, baseUrl: provider.url, applicantId, forClientId: 'Payments', ...options })
const redeemed = () => provider.redemptions.length
const newest = () => provider.redemptions.at(-1)?.applicantId ?? ''

test('a user that the shop verified is in flight after one share, approved after the verdict, and redeemed once', async () => {
  const before = redeemed()
  const tokens = vi.fn(() => mint())
  const { result, usedToken } = await shareVerification({ client, email, mint: tokens })
  expect(result).toMatchObject({ kind: 'in_flight', redeemed: true })
  const ask = () => shareVerification({ client, email, mint: tokens, usedToken })
  expect(await ask()).toMatchObject({ result: { kind: 'in_flight', redeemed: false }, usedToken })
  provider.approve(newest())
  await provider.deliverWebhooks()
  expect(await ask()).toMatchObject({ result: { kind: 'approved', redeemed: false }, usedToken })
  expect(redeemed()).toBe(before + 1)
  expect(tokens).toHaveBeenCalledTimes(1)
})

test('after a 422 a fresh token is redeemed, whether the first was used or expired', async () => {
  const used = await mint()
  await client.identity.share({ email: `other-${email}`, kycShareToken: used })
  const expired = await mint({ ttlInSecs: 1 })
  ahead += 2_000
  const before = redeemed()
  for (const [user, token] of [
    [`used-${email}`, used],
    [`late-${email}`, expired],
  ] as const) {
    const tokens = vi.fn(() => mint()).mockResolvedValueOnce(token)
    const { result } = await shareVerification({ client, email: user, mint: tokens })
    expect(result).toMatchObject({ kind: 'in_flight', redeemed: true })
    expect(tokens).toHaveBeenCalledTimes(2)
  }
  expect(redeemed()).toBe(before + 2)
})

test("after the allowed number of rejected tokens the error has the provider's message", async () => {
  const used = await mint()
  await client.identity.share({ email: `other-${email}`, kycShareToken: used })
  const tokens = vi.fn(async () => used)
  await expect(shareVerification({ client, email, mint: tokens, maxTokens: 3 })).rejects.toMatchObject({
    code: 'ERR_SHARE_TOKEN_REJECTED',
    providerMessage: expect.stringContaining('Token is invalid'),
  })
  expect(tokens).toHaveBeenCalledTimes(3)
})

/** Shares a verification and lets the provider reject it. */
async function shareRejected(rejectType: 'RETRY' | 'FINAL') {
  const { usedToken } = await shareVerification({ client, email, mint })
  provider.reject(newest(), { labels: ['UNSATISFACTORY_PHOTOS'], rejectType })
  await provider.deliverWebhooks()
  return usedToken
}

test('after RETRY it mints no token until the user has corrected it, then shares a fresh one whose verdict counts', async () => {
  const usedToken = await shareRejected('RETRY')
  const [first, tokens] = [newest(), vi.fn(() => mint())]
  const again = (isCorrected: boolean) => shareVerification({ client, email, mint: tokens, usedToken, isCorrected })
  const message = expect.stringMatching(/RED, RETRY[.] Labels: UNSATISFACTORY_PHOTOS[.]$/)
  for (let times = 0; times < 2; times += 1)
    expect((await again(false)).result).toEqual({ kind: 'rejected_before', rejectType: 'RETRY', message })
  expect([tokens.mock.calls.length, newest()]).toEqual([0, first])
  const retried = await again(true)
  expect(retried).toMatchObject({ result: { kind: 'in_flight', redeemed: true } })
  expect(retried.usedToken).not.toBe(usedToken)
  provider.approve(newest())
  await provider.deliverWebhooks()
  expect((await shareVerification({ client, email, mint, usedToken: retried.usedToken })).result).toMatchObject({
    kind: 'approved',
    redeemed: false,
  })
})

test('after a rejection without a type it mints once the user has corrected it', async () => {
  const rejected = new ShareTokenRejectedError('Token is invalid.', { rejectType: null })
  const share = vi.fn(async () => Promise.reject(rejected))
  const tokens = vi.fn(async () => 'fresh')
  const asked = { client: { identity: { share } }, email, mint: tokens, usedToken: 'used' }
  const { result } = await shareVerification(asked)
  expect(result).toMatchObject({ kind: 'rejected_before', rejectType: null })
  expect(tokens).not.toHaveBeenCalled()
  await expect(shareVerification({ ...asked, isCorrected: true })).rejects.toBe(rejected)
  expect(tokens).toHaveBeenCalledTimes(2)
})

test('after FINAL it mints and redeems nothing, even after a correction', async () => {
  const usedToken = await shareRejected('FINAL')
  const [before, tokens] = [redeemed(), vi.fn(() => mint())]
  for (const isCorrected of [false, true])
    expect(await shareVerification({ client, email, mint: tokens, usedToken, isCorrected })).toMatchObject({
      result: { kind: 'rejected_before', rejectType: 'FINAL', message: expect.stringContaining('RED, FINAL.') },
      usedToken,
    })
  expect([tokens.mock.calls.length, redeemed()]).toEqual([0, before])
})

test('without the used token it stops after the first rejected token if the former verdict is FINAL', async () => {
  const used = (await shareRejected('FINAL')) ?? ''
  const tokens = vi.fn(async () => used)
  const { result } = await shareVerification({ client, email, mint: tokens, maxTokens: 3 })
  expect(result).toMatchObject({ kind: 'rejected_before', rejectType: 'FINAL' })
  expect(tokens).toHaveBeenCalledTimes(1)
})

test('any other error of a share is passed on, and no second token is minted', async () => {
  const taken = new Error('another integration shared this user')
  const tokens = vi.fn(async () => 'fresh')
  const share = async () => Promise.reject(taken)
  await expect(shareVerification({ client: { identity: { share } }, email, mint: tokens })).rejects.toBe(taken)
  expect(tokens).toHaveBeenCalledTimes(1)
})

test('a used token without a verification at the service is followed by a fresh one', async () => {
  const usedToken = await mint()
  await client.identity.share({ email: `other-${email}`, kycShareToken: usedToken })
  const { result } = await shareVerification({ client, email, mint, usedToken })
  expect(result).toMatchObject({ kind: 'in_flight', redeemed: true })
})

const run = (changes: Record<string, string>) =>
  whenEnded(
    startProgram(new URL('main.ts', import.meta.url), {
      ...{ PAYMENTS_URL: server.url, INTEGRATION_ADDRESS: addressOfShop, API_SECRET: apiSecret },
      ...{ SUMSUB_URL: provider.url, SUMSUB_APP_TOKEN: shop.appToken, SUMSUB_SECRET_KEY: shop.secretKey },
      ...{ SERVICE_CLIENT_ID: 'Payments', APPLICANT_ID: applicantId, USER_EMAIL: email, ...changes },
    }),
  )

test('the program prints the status, and polls with the used token', async () => {
  const { exitCode, out, err } = await run({})
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
  const [said, toAsk = ''] = out.split('\n')
  expect(said).toBe('No verdict yet (pending). Run this again in some minutes.')
  const used = { USED_TOKEN: toAsk.replace('To ask for the verdict, set USED_TOKEN=', '') }
  provider.approve(newest())
  await provider.deliverWebhooks()
  expect((await run(used)).out).toBe(`Approved.\n${toAsk}\n`)
  provider.reject(newest(), { labels: ['FORGERY'], rejectType: 'FINAL' })
  await provider.deliverWebhooks()
  const final = expect.stringMatching(/RED, FINAL[.] Labels: FORGERY[.]\n$/)
  expect(await run(used)).toMatchObject({ exitCode: 0, out: 'Rejected, and that is final.\n', err: final })
})

test("the program exits with 1 and the provider's message, and with 2 when a variable is missing", async () => {
  const { id } = provider.addApplicant({ clientId: 'Shop', as: 'pending' })
  const rejected = await run({ APPLICANT_ID: id })
  expect(rejected).toMatchObject({ exitCode: 1, out: '', err: expect.stringMatching(/applicant.*approved/i) })
  const misconfigured = await run({ SUMSUB_SECRET_KEY: 'another secret' })
  expect(misconfigured).toMatchObject({ exitCode: 1, out: '', err: expect.stringMatching(/secret key/) })
  for (const { err } of [rejected, misconfigured]) expect(err.trim().split('\n')).toHaveLength(1)
  for (const name of ['API_SECRET', 'USER_EMAIL'])
    expect(await run({ [name]: '' })).toMatchObject({ exitCode: 2, err: expect.stringContaining(name) })
})
