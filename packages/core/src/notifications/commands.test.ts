import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { createVerifier } from '@payment-integration/webhook'
import { expect, test } from 'vitest'
import { before, getAddress, setUpIntegrations } from '../../test/support/integration-setup.js'
import { createAudited } from '../history/audit-log.js'
import type { PostRequest, PostResult } from '../ports/runtime.js'
import { createEndpointCommands } from './delivery-commands.js'

const shop = getAddress('a1')
const accepted: PostResult = { kind: 'answer', status: 204, retryAfter: null, excerpt: null, latencyMs: 3 }

async function setUp(answer: (post: PostRequest) => Promise<PostResult> = async () => accepted) {
  const { store, clock, commands, log } = setUpIntegrations()
  const { signingSecret } = await commands.create({ address: shop, notificationUrl: 'https://shop.example/hook' })
  const posts: PostRequest[] = []
  const endpoints = createEndpointCommands({
    integrations: store.integrations,
    audited: createAudited({ transaction: store.transaction, keys: before, clock, actor: `integration:${shop}` }),
    keys: before,
    clock,
    sender: {
      post(post) {
        posts.push(post)
        return answer(post)
      },
    },
    nextTestAt: new Map(),
  })
  return { store, clock, commands, log, endpoints, posts, signingSecret }
}

test('a test delivery is signed like any other, and says in its signed bytes that it is no payment', async () => {
  const { endpoints, posts, signingSecret, clock } = await setUp()
  await clock.advance(1_800_000_000_000 - clock.now())
  const sent = await endpoints.sendTest(shop)
  const [{ url, headers, body } = { url: '', headers: {}, body: new Uint8Array() }] = posts
  const { snapshot } = await createVerifier({ secrets: signingSecret, now: clock.now }).verify({ body, headers })
  expect(url).toBe('https://shop.example/hook')
  expect(snapshotWriteSchema.parse(snapshot)).toEqual({
    integrationAddress: shop,
    chainId: '31337',
    txHash: `0x7e57${'0'.repeat(60)}`,
    version: 1_800_000_000,
    state: null,
    recipient: { title: 'Test delivery', subtitle: 'This is no payment.' },
    invoice: null,
  })
  expect(sent).toMatchObject({ url, headers, body: new TextDecoder().decode(body), status: 204, reason: null })
})

test('it changes nothing but the audit log, which has its record before it is sent', async () => {
  const { endpoints, store, log } = await setUp(async () => {
    expect(log().at(-1)).toEqual([
      'integration.test_sent',
      shop,
      { url: expect.stringMatching(/^https:\/\/shop.example\/\[[0-9a-f]{12}\]$/) },
    ])
    return { ...accepted, status: 500 }
  })
  const { payments, snapshots } = store.committed
  expect(await endpoints.sendTest(shop)).toMatchObject({ status: 500, reason: 'status_500' })
  expect(store.committed).toMatchObject({ payments, snapshots })
  expect(await store.deliveries.list({ limit: 9 })).toEqual([])
  expect(await store.deliveries.endpoints()).toEqual([])
})

test('one is in flight at a time, and 5 seconds lie between the starts of two; a failed one counts too', async () => {
  const waiting: (() => void)[] = []
  const { endpoints, clock } = await setUp(
    () =>
      new Promise((resolve) => waiting.push(() => resolve({ kind: 'failure', reason: 'connection', latencyMs: 1 }))),
  )
  const first = endpoints.sendTest(shop)
  await expect(endpoints.sendTest(shop)).rejects.toMatchObject({ code: 'ERR_TEST_IN_FLIGHT' })
  await expect.poll(() => waiting.length).toBe(1)
  waiting[0]?.()
  expect(await first).toMatchObject({ status: null, reason: 'connection' })
  await clock.advance(4_999)
  await expect(endpoints.sendTest(shop)).rejects.toMatchObject({ code: 'ERR_TEST_IN_FLIGHT' })
  await clock.advance(1)
  const second = endpoints.sendTest(shop)
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.()
  await second
})

test('without an integration or a URL nothing is sent', async () => {
  const { endpoints, commands, posts } = await setUp()
  await expect(endpoints.sendTest(getAddress('c'))).rejects.toMatchObject({ code: 'ERR_INTEGRATION_NOT_FOUND' })
  await commands.setNotificationUrl(shop, null)
  await expect(endpoints.sendTest(shop)).rejects.toMatchObject({ code: 'ERR_NO_NOTIFICATION_URL' })
  expect(posts).toEqual([])
})

test('an answer that repeats a secret shows it hidden', async () => {
  const { endpoints } = await setUp(async () => ({ ...accepted, excerpt: `env: pi_whsec_${'x'.repeat(43)}.` }))
  expect((await endpoints.sendTest(shop)).excerpt).toBe('env: [hidden].')
})
