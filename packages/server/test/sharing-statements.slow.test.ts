/** docs/interface.md 4.2, on PostgreSQL: the statements of a share reveal nothing about the account. */
import { createService, parseMasterKey, silentLogger } from '@payment-integration/core'
import type { IdentityProvider } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgresMissing, startPostgres } from '../../store-sql/test/postgres.js'
import { createUndiciSender } from '../src/sender/undici-sender.js'
import { timingMasterKey } from './support/start-timing-server.js'

const address = `0x${'a1'.repeat(20)}`
const states = ['owned', 'carried unverified', 'of a placeholder', 'unknown'] as const

/** Redeems only the token `good`, so that another one leaves a placeholder. */
const provider: IdentityProvider = {
  redeem: async ({ shareToken, externalUserId }) =>
    shareToken === 'good'
      ? { kind: 'redeemed', applicant: { applicantId: `of-${externalUserId}`, review: null } }
      : { kind: 'rejected', message: 'Token is invalid', providerCode: null },
  find: async () => ({ kind: 'answer', value: null }),
  review: async () => ({ kind: 'answer', value: null }),
}

it.skipIf(postgresMissing !== null)(
  'PostgreSQL runs the same statements in the same order in every state of the account',
  async () => {
    const { connectionString, remove } = await startPostgres({ fsync: false })
    onTestFinished(remove)
    const store = createPostgresStore({ connectionString })
    onTestFinished(() => store.close())
    await store.migrate()
    const sender = createUndiciSender()
    onTestFinished(() => sender.close())
    const masterKey = parseMasterKey(timingMasterKey)
    const { identity } = createService({ store, sender, masterKey, logger: silentLogger, identity: { provider } })
    if (identity === null) throw new Error('Sharing is off.')
    const accounts = await identity.accounts()
    const share = (email: string, shareToken = 'good') =>
      identity.share({ integrationAddress: address, email, shareToken })
    const texts = new Map<string, string[]>()
    // Twice: a connection runs its one-time statements at its first share.
    for (const [n, state] of [...states, ...states].entries()) {
      const email = `user${n}@shop.example`
      if (state === 'owned') await accounts.proveByCode(email, (await accounts.requestCode(email)).code)
      if (state === 'carried unverified') await accounts.register(email)
      if (state === 'of a placeholder')
        await expect(share(email, 'x')).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
      texts.set(state, await getStatements(() => share(email)))
    }
    expect(texts.get('unknown')?.length).toBeGreaterThan(8)
    for (const state of states) expect(texts.get(state), state).toEqual(texts.get('unknown'))
  },
)

/** Statements that the connections of this process run meanwhile. */
async function getStatements(work: () => Promise<unknown>): Promise<string[]> {
  const ran: string[] = []
  const { query } = pg.Client.prototype
  const noting = function (this: pg.Client, ...args: unknown[]): unknown {
    const [statement] = args as [string | { readonly text: string }]
    ran.push(typeof statement === 'string' ? statement : statement.text)
    return Reflect.apply(query, this, args)
  }
  pg.Client.prototype.query = noting as typeof query
  try {
    await work()
  } finally {
    pg.Client.prototype.query = query
  }
  return ran
}
