import { randomBytes } from 'node:crypto'
import { createService, parseMasterKey } from '@payment-integration/core'
import { expect, test } from 'vitest'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { createStore } from '../create-store.js'

const passphrase = 'correct horse battery'
const masterKey = parseMasterKey(randomBytes(32).toString('base64url'))

onBothDatabases((empty) => {
  /** Two processes on one database, with cheap hashes. */
  async function twoServices() {
    const store = createStore(await empty())
    await store.migrate()
    const service = () =>
      createService({
        store,
        sender: { post: () => Promise.reject(new Error('nothing is sent')) },
        masterKey,
        passphraseCost: { log2N: 4, r: 1, p: 1 },
      })
    return [service(), service()] as const
  }

  test('a one-time link that two processes redeem at once is redeemed once', async () => {
    const [one, two] = await twoServices()
    const { linkToken } = await one.operators.create({ name: 'alice' })
    const results = await Promise.allSettled(
      [one, two, one, two].map(({ operatorSessions }) => operatorSessions.redeemLink({ linkToken, passphrase })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await one.audit.list({ limit: 10 })).map(({ action }) => action)).toEqual([
      'operator.created',
      'operator.link_redeemed',
    ])
  })

  test('ten sign-ins at once, and a reset among them, leave no session of the old passphrase', async () => {
    const [one, two] = await twoServices()
    const { linkToken } = await one.operators.create({ name: 'alice' })
    await one.operatorSessions.redeemLink({ linkToken, passphrase })
    const signIns = Array.from({ length: 10 }, (_, n) =>
      (n % 2 ? one : two).operatorSessions.signIn({ name: 'alice', passphrase, source: `192.0.2.${n}` }),
    )
    const reset = two.operators.reset('alice')
    const results = await Promise.allSettled(signIns)
    await reset
    for (const result of results)
      if (result.status === 'fulfilled')
        expect(await one.operatorSessions.authenticate(result.value.sessionToken)).toBeNull()
  })
})
