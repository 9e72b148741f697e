import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatShareRejection, verificationUnavailableBody } from '@payment-integration/contract/internal'
import { expect, test } from 'vitest'
import { apiSecret, integrationAddress, type Reply, serveReplies, startProxy } from './fixtures.js'
import { apiKey, lookup, txHash, verified } from './legacy-fixtures.js'
import { runReadme } from './run-readme.js'
import { paymentHash, startService } from './service.js'
import { email, kycShareToken, rejection, shareResponse } from './share-fixtures.js'

const getVariables = ({ url, apiSecret }: { url: string; apiSecret: string }) => ({
  PAYMENTS_URL: url,
  INTEGRATION_ADDRESS: integrationAddress,
  API_SECRET: apiSecret,
})

test('the block of the README prints every payment of the service', async () => {
  await using service = await startService()
  await service.index(0, 1)
  await service.update(1, 'success')
  expect(await runReadme('packages/client/README.md', getVariables(service))).toBe(
    `${paymentHash(0)} 1 null 13.37 USDC\n${paymentHash(1)} 2 success 13.37 USDC\n`,
  )
})

test('the block about a proxy reads the service through it', async () => {
  await using service = await startService()
  await service.index(0, 1)
  await using proxy = await startProxy()
  const variables = { ...getVariables(service), HTTPS_PROXY: proxy.url }
  expect(await runReadme('packages/client/README.md', variables, 1)).toBe('1\n')
  expect(proxy.tunnels).toEqual([new URL(service.url).host])
})

test('the block about reconciling repairs, stores its checkpoint, and then finds nothing to repair', async () => {
  await using service = await startService()
  await service.index(0, 1)
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-readme-'))
  const variables = {
    ...getVariables(service),
    CHECKPOINT_FILE: join(folder, 'checkpoint.json'),
    DATABASE_FILE: join(folder, 'shop.db'),
  }
  try {
    expect(await runReadme('docs/guides/reconcile.md', variables)).toBe('2 missing, 0 stale, 0 failed\n')
    await service.update(1, 'success')
    expect(await runReadme('docs/guides/reconcile.md', variables)).toBe('0 missing, 1 stale, 0 failed\n')
    expect(await runReadme('docs/guides/reconcile.md', variables)).toBe('0 missing, 0 stale, 0 failed\n')
    expect(JSON.parse(readFileSync(variables.CHECKPOINT_FILE, 'utf8'))).toMatchObject({ format: 1, unfinished: [] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('the block about amounts is exact', async () => {
  expect(await runReadme('docs/guides/compute-with-amounts.md', {})).toBe('12.505 true 12505000n\n12.50 12.5\n')
})

const says = 'Token is invalid. The verification shared before was rejected: RED'
const retry: Parameters<typeof formatShareRejection>[1] = { rejectType: 'RETRY', rejectLabels: ['BAD_SELFIE'] }
const final: typeof retry = { rejectType: 'FINAL', rejectLabels: ['FORGERY'] }
const noType: typeof retry = { rejectType: null, rejectLabels: ['FORGERY'] }
const red = shareResponse({ reviewStatus: 'completed', reviewAnswer: 'RED', ...retry })
const rejected = (former: Parameters<typeof formatShareRejection>[1]): Reply => ({
  status: 422,
  body: rejection(formatShareRejection('Token is invalid', former)),
})

test.each<[string, Reply, string]>([
  ['reports that the provider waits for documents', { body: shareResponse() }, 'no verdict yet: init'],
  [
    'reports why a verification was rejected, and that a retry may help',
    { body: red },
    'rejected: BAD_SELFIE, try again: true',
  ],
  ['asks for a fresh token', rejected(null), 'mint a fresh token: Token is invalid'],
  [
    'asks for a correction first where the user was rejected',
    rejected(retry),
    `correct the flaw, then mint a fresh token: ${says}, RETRY. Labels: BAD_SELFIE.`,
  ],
  ['stops after a final rejection', rejected(final), `stop: ${says}, FINAL. Labels: FORGERY.`],
  [
    'asks for the type of a rejection without one',
    rejected(noType),
    `ask the provider for the type: ${says}. Labels: FORGERY.`,
  ],
  ['reports a user verified elsewhere', { status: 409, body: verificationUnavailableBody }, 'verified elsewhere'],
])('the block of the guide about sharing %s', async (_case, reply, printed) => {
  await using server = await serveReplies(reply)
  const variables = { ...getVariables({ url: server.url, apiSecret }), USER_EMAIL: email, SHARE_TOKEN: kycShareToken }
  expect(await runReadme('docs/guides/share-a-verification.md', variables)).toBe(`${printed}\n`)
  expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([{ email, kycShareToken }])
})

const failed = verified({ verified: false, verificationErrors: ['Invalid payment amount', 'Invalid payment currency'] })

test.each([
  ['reports that the transaction was paid as invoiced', { body: verified() }, 'paid as invoiced'],
  ['says why not', { status: 409, body: failed }, 'not as invoiced: Invalid payment amount, Invalid payment currency'],
])('the block of the guide about the legacy API %s', async (_case, reply, verdict) => {
  await using server = await serveReplies({ body: lookup() }, reply)
  const variables = { PAYMENTS_URL: server.url, LEGACY_API_KEY: apiKey, TX_HASH: txHash }
  expect(await runReadme('docs/guides/use-the-legacy-api.md', variables)).toBe(`order-7 1.1255 USDC\n${verdict}\n`)
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
})
