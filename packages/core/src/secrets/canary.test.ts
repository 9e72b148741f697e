import { expect, test } from 'vitest'
import { busy } from '../../test/support/dispatcher-setup.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { cheapCost } from '../../test/support/operator-setup.js'
import { outboxOf } from '../../test/support/outbox.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import type { ServiceEvent } from '../events.js'
import type { Post, PostResult } from '../ports/sender.js'
import { createService } from '../service.js'
import { parseMasterKey } from './master-key.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const address = `0x${'a1'.repeat(20)}`
const urlCanary = 'canary-in-the-query'

test('no secret is in an event, a log line, an error, the audit log or a stored row, whatever is done', async () => {
  const clock = manualClock()
  const store = openStore({ now: () => clock.now() })
  const deliveries = outboxOf(store)
  const events: ServiceEvent[] = []
  const logger = recordingLogger()
  const errors: unknown[] = []
  const secrets = new Set<string>([oldKey, newKey, urlCanary])
  for (const key of [oldKey, newKey]) secrets.add(Buffer.from(key, 'hex').toString('base64url'))

  const answers: ((post: Post) => PostResult)[] = []
  /** An endpoint that echoes the request. */
  const echo =
    (status: number) =>
    (post: Post): PostResult => {
      const signature = post.headers['X-Service-Signature'] ?? ''
      secrets.add(signature.slice(signature.indexOf('v1=') + 3))
      const excerpt = status === 204 ? null : JSON.stringify(post.headers)
      return { kind: 'answer', status, retryAfter: null, excerpt, latencyMs: 3 }
    }
  const serviceWith = (keys: string, seed: number) =>
    createService({
      store: { ...store, deliveries },
      sender: {
        async post(post) {
          const answer = answers.shift()
          if (answer === undefined) throw new Error(`sender broke on ${JSON.stringify(post)}`)
          return answer(post)
        },
      },
      masterKey: parseMasterKey(keys),
      passphraseCost: cheapCost,
      clock,
      random: seededRandom(seed),
      logger,
      onEvent: (event) => events.push(event),
    })
  const failing = async (work: Promise<unknown>) => {
    errors.push(
      await work.then(
        () => expect.unreachable('it was to fail'),
        (error: unknown) => error,
      ),
    )
  }
  let made = 0
  const deliver = async (service: ReturnType<typeof serviceWith>, answer?: (post: Post) => PostResult) => {
    made += 1
    await deliveries.add({ name: `d${made}`, integrationAddress: address })
    if (answer !== undefined) answers.push(answer)
    await service.dispatcher.runOnce()
  }

  const service = serviceWith(oldKey, 1)
  const issued = await service.integrations.create({
    address,
    name: 'shop',
    notificationUrl: `https://shop.example/hook?token=${urlCanary}`,
  })
  secrets.add(issued.apiSecret).add(issued.signingSecret)
  const legacy = await service.legacyKeys.create({ name: 'till' })
  secrets.add(legacy.apiKey)
  await deliver(service, echo(204))
  await deliver(service, echo(500))
  await deliver(service, echo(410))
  // A sender that breaks its promise, with everything in its message.
  await deliver(service)
  await clock.advance(20_000)
  deliveries.failures.settle.push(busy())
  const settling = deliver(service, echo(204))
  await clock.advance(1_000)
  await settling
  secrets.add((await service.integrations.rotateApiSecret(address, { graceMs: 60_000 })).apiSecret)
  secrets.add((await service.integrations.prepareSigningSecret(address)).signingSecret)
  await service.integrations.activateSigningSecret(address)
  answers.push(echo(401))
  await deliver(service, echo(500))
  await service.integrations.setNotificationUrl(address, `https://shop.example/other?token=${urlCanary}`)
  await service.integrations.setEnabled(address, false)
  await service.integrations.setEnabled(address, true)
  await failing(service.integrations.create({ address, notificationUrl: `https://user:${urlCanary}@shop.example/` }))
  await failing(service.integrations.setNotificationUrl(address, `ftp://shop.example/?token=${urlCanary}`))
  await failing(service.integrations.create({ address }))
  await failing(service.deliveries.replay('none'))

  const { operators, operatorSessions } = service
  const passphrase = 'canary of a passphrase'
  const { linkToken } = await operators.create({ name: 'alice' })
  const short = 'kanarek'
  await failing(operatorSessions.redeemLink({ linkToken, passphrase: short }))
  await operatorSessions.redeemLink({ linkToken, passphrase })
  await failing(operatorSessions.redeemLink({ linkToken, passphrase }))
  const { sessionToken } = await operatorSessions.signIn({ name: 'alice', passphrase, source: '192.0.2.1' })
  // The passphrase in the wrong field, and a wrong one.
  await failing(operatorSessions.signIn({ name: passphrase, passphrase, source: '192.0.2.1' }))
  await failing(operatorSessions.signIn({ name: 'alice', passphrase: `${passphrase} 2`, source: '192.0.2.1' }))
  secrets.add(short).add(passphrase).add(linkToken).add(sessionToken).add(operatorSessions.csrfToken(sessionToken))
  secrets.add((await operators.create({ name: 'bob' })).linkToken).add((await operators.reset('bob')).linkToken)

  const moved = serviceWith(`${newKey},${oldKey}`, 2)
  await moved.integrations.resealSecrets()
  answers.push(echo(204), echo(204), echo(204), echo(204), echo(204), echo(204), echo(204), echo(204))
  await moved.deliveries.replayAll({ status: 'exhausted' })
  await moved.dispatcher.runOnce()
  await moved.deliveries.replay('1')
  await moved.dispatcher.runOnce()
  // Only the new key: a secret sealed with the old one cannot sign, and legacy keys do not authenticate.
  const withOldKey = serviceWith(oldKey, 3).integrations
  secrets.add((await withOldKey.prepareSigningSecret(address)).signingSecret)
  await withOldKey.activateSigningSecret(address, { graceMs: 0 })
  const lost = serviceWith(newKey, 4)
  await deliver(lost)
  await failing(lost.integrations.resealSecrets())
  await lost.legacyKeys.revoke(legacy.key.id)
  expect(
    await lost.authenticate(`Basic ${Buffer.from(`${address}:${issued.apiSecret}`).toString('base64')}`),
  ).toBeNull()

  // All steps succeeded: else there would be nothing to find.
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['delivery.attempted', 'delivery.exhausted']))
  expect(logger.lines.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['secret unreadable', 'attempts not settled; trying again']),
  )
  expect(errors).toHaveLength(9)
  expect(secrets.size).toBeGreaterThan(12)
  const shownErrors = errors.map((error) => [String(error), JSON.stringify(error), (error as Error).stack])
  expect(store.sql('select passphrase from operators where name = ?', 'alice')).toEqual([
    { passphrase: expect.any(String) },
  ])
  expect(store.sql('select * from operator_sessions')).toHaveLength(1)
  // A URL is the integration's own, and an excerpt what its receiver answered: here its own request.
  store.sql('update integrations set notification_url = null')
  store.sql('update attempts set excerpt = null')
  const seen = JSON.stringify([events, logger.lines, shownErrors, store.dump()])
  for (const secret of secrets) expect(seen).not.toContain(secret)
})
