import { expect, test } from 'vitest'
import { ok } from '../test/support/dispatcher-setup.js'
import { manualClock } from '../test/support/manual-clock.js'
import { getOutbox } from '../test/support/outbox.js'
import { seededRandom } from '../test/support/seeded-random.js'
import { openStore } from '../test/support/store.js'
import { hashOf } from '../test/support/stored-payment.js'
import { start, until } from '../test/support/until.js'
import type { ServiceEvent } from './events.js'
import type { PostRequest } from './ports/runtime.js'
import { parseMasterKey } from './secrets/keys.js'
import { createService, type ServiceDeps } from './service.js'

const address = `0x${'a1'.repeat(20)}`
const notificationUrl = 'https://shop.example/hook'
const basic = (secret: string) => `Basic ${Buffer.from(`${address}:${secret}`).toString('base64')}`

function setup(options: Partial<ServiceDeps> = {}) {
  const clock = manualClock()
  const store = openStore({ clock })
  const deliveries = getOutbox(store)
  const posts: PostRequest[] = []
  const service = createService({
    store: { ...store, deliveries },
    sender: {
      async post(post) {
        posts.push(post)
        return ok
      },
    },
    masterKey: parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'),
    clock,
    random: seededRandom('service'),
    ...options,
  })
  const audit = () => store.committed.audit
  return { clock, deliveries, service, posts, audit }
}

test('a running service publishes the newest record of the audit log', async () => {
  const events: ServiceEvent[] = []
  const { service, audit } = setup({ onEvent: (event) => events.push(event) })
  await service.integrations.create({ address })
  const loop = start(service)
  await until('the event', () => events.some(({ type }) => type === 'audit.head'))
  await loop.stop()
  const [record] = audit()
  const head = { seq: 1, at: record?.at, hash: record?.hash }
  expect(events).toEqual([{ type: 'audit.head', ...head }])
  expect(await service.audit.head()).toEqual(head)
})

test('commands in the name of an operator are in the audit log with that name, and change the same service', async () => {
  const { service, audit } = setup({ actor: 'server' })
  const asAlice = service.actingAs('operator:alice')
  const { apiSecret } = await asAlice.integrations.create({ address })
  const { key } = await asAlice.legacyKeys.create()
  await service.legacyKeys.revoke(key.id)
  await asAlice.operators.create({ name: 'bob' })
  expect(audit().map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    ...['operator:alice integration.created', 'operator:alice legacy_key.created', 'server legacy_key.revoked'],
    'operator:alice operator.created',
  ])
  // What authentication remembers ends with a change of this process.
  expect(await service.authenticate(basic(apiSecret))).not.toBeNull()
  const rotated = await asAlice.integrations.rotateApiSecret(address)
  expect(await service.authenticate(basic(apiSecret))).toBeNull()
  expect(await service.authenticate(basic(rotated.apiSecret))).not.toBeNull()
  await asAlice.integrations.setEnabled(address, false)
  expect(await service.authenticate(basic(rotated.apiSecret))).toBeNull()
  expect(() => service.actingAs(' ')).toThrow(RangeError)
})

test.each([{ actor: ' ' }, { delivery: { concurrency: 0 } }])('%j is a RangeError', (options) => {
  expect(() => setup(options)).toThrow(RangeError)
})

test('a replay is sent at once by a running dispatcher, signed with the secret of the moment and marked', async () => {
  const { service, deliveries, posts, clock } = setup()
  await service.integrations.create({ address, notificationUrl })
  const { signingSecret } = (await service.store.integrations.find(address)) ?? expect.unreachable('it is stored')
  await deliveries.add({ name: 'a', integrationAddress: address, signingSecret })
  const loop = start(service)
  await until('the first attempt', async () => (await deliveries.view('a')).status === 'delivered')
  await until('an idle dispatcher', () => clock.sleepers().length === 2)
  const before = clock.now()
  await service.deliveries.replay('1')
  await until('the replay', async () => (await deliveries.view('a')).attempts.length === 2)
  expect(clock.now()).toBe(before)
  await loop.stop()
  expect(posts).toHaveLength(2)
  expect((await deliveries.view('a')).attempts.map(({ replay }) => replay)).toEqual([false, true])
})

test('the detail of a payment is found on each of three chains that have its hash', async () => {
  const { deliveries, service } = setup()
  const chainIds = [1, 10, 137]
  for (const chainId of chainIds) await deliveries.add({ name: 'a', chainId, integrationAddress: address })
  const { paymentDetail } = service.queries.forIntegration(address)
  const found = await Promise.all(chainIds.map((chainId) => paymentDetail(chainId, hashOf('a'), () => [])))
  expect(found.map((each) => each?.payment.chainId)).toEqual(chainIds)
})
