import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { createTestDelivery } from '@payment-integration/webhook/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { createBuilders, createDeliveries, createFakeClock, type Deliveries } from '../src/exports/index.js'

const secret = 'whsec_of_the_receiver'

function setup() {
  const clock = createFakeClock()
  const build = createBuilders({ clock })
  const { verify } = createVerifier({ secrets: secret, clock })
  const getCode = (delivery: Parameters<typeof verify>[0]) =>
    verify(delivery)
      .then(() => 'ok')
      .catch((error: { code: string }) => error.code)
  return { clock, build, verify, getCode, deliveries: createDeliveries({ secret, clock }) }
}

const kinds: readonly [keyof Deliveries, string][] = [
  ['good', 'ok'],
  ['stale', 'ERR_DELIVERY_STALE'],
  ['future', 'ERR_DELIVERY_FUTURE'],
  ['forged', 'ERR_SIGNATURE_MISMATCH'],
  ['tampered', 'ERR_SIGNATURE_MISMATCH'],
  ['unsigned', 'ERR_SIGNATURE_MISSING'],
  ['misrouted', 'ERR_INTEGRATION_MISMATCH'],
]
test.each(kinds)('for a %s delivery the verifier answers %s', async (kind, verdict) => {
  const { build, deliveries, getCode } = setup()
  expect(await getCode((await deliveries[kind](build.snapshot() as never, undefined as never)) as never)).toBe(verdict)
})

test('a good delivery has the same bytes and headers as the signer of the verifier package', async () => {
  const { build, deliveries, clock } = setup()
  const snapshot = build.snapshot()
  expect(await deliveries.good(snapshot)).toEqual(await createTestDelivery({ secret, snapshot, clock }))
})

test.each([undefined, {}, { secret: '' }])('options %j, without a secret, are a TypeError', (options) => {
  const make = () => createDeliveries(options as { secret: string })
  expect(make).toThrow(TypeError)
  expect(make).toThrow(/secret is empty/)
})

test('a test can set the age at the edges of the window', async () => {
  const { build, deliveries, getCode } = setup()
  const snapshot = build.snapshot()
  expect(await getCode(await deliveries.stale(snapshot, 300))).toBe('ok')
  expect(await getCode(await deliveries.future(snapshot, 300))).toBe('ok')
})

test('a duplicate has the same bytes with a new signature, and verifies when the first is stale', async () => {
  const { build, deliveries, clock, getCode } = setup()
  const first = await deliveries.good(build.snapshot())
  clock.advance(3_600_000)
  const again = await deliveries.duplicate(first)
  expect(again.body).toEqual(first.body)
  expect([await getCode(first), await getCode(again)]).toEqual(['ERR_DELIVERY_STALE', 'ok'])
})

test('of a rotation, the first delivery verifies only with the next secret, the second only with the former one', async () => {
  const { build, deliveries, clock } = setup()
  const rotated = await deliveries.rotated(build.snapshot(), 'whsec_new')
  expect(rotated[0].body).toEqual(rotated[1].body)
  const accepts = (secrets: string | string[]) => {
    const verified = rotated.map(createVerifier({ secrets, clock }).verify)
    return Promise.all(verified.map((each) => each.then(({ secretIndex }) => secretIndex).catch(({ code }) => code)))
  }
  expect(await accepts('whsec_new')).toEqual([0, 'ERR_SIGNATURE_MISMATCH'])
  expect(await accepts(secret)).toEqual(['ERR_SIGNATURE_MISMATCH', 0])
  expect(await accepts(['whsec_new', secret])).toEqual([0, 1])
})

test('of reordered deliveries a receiver applies the first and finds the others stale', async () => {
  const { build, deliveries, verify } = setup()
  const effects: number[] = []
  const handle = async ({ version }: { version: number }) => void effects.push(version)
  const { receive } = createReceiver({ verify, store: createMemoryVersionStore(), handle })
  const snapshot = build.snapshot()
  const versions = [1, 2, 3].map((version) => ({ ...snapshot, version }))
  const decisions = []
  for (const delivery of await deliveries.reordered(versions)) decisions.push((await receive(delivery)).decision)
  expect(decisions).toEqual(['apply', 'stale', 'stale'])
  expect(effects).toEqual([3])
})

afterEach(() => vi.useRealTimers())

test('by default the current system clock signs, even fake timers that started after the factory', async () => {
  const deliveries = createDeliveries({ secret })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2031, 0, 1) })
  const good = await deliveries.good(createBuilders().snapshot())
  const { signedAt, ageSeconds } = await createVerifier({ secrets: secret }).verify(good)
  expect([signedAt, ageSeconds]).toEqual([Date.UTC(2031, 0, 1) / 1_000, 0])
})
