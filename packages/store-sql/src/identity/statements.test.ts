/** The time of statements must not reveal the stored state of an address. Source: docs/interface.md 4.2. */
import type { EmailAddress } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import { share } from '../../test/conformance/identity-logs.js'
import { redemption } from '../../test/conformance/identity-steps.js'
import { onBothDatabases } from '../../test/support/both-databases.js'
import { noting } from '../../test/support/engines.js'
import { createStore } from '../create-store.js'

const email: EmailAddress = {
  address: 'user@example.com',
  key: 'e'.repeat(64),
  sealed: { keyVersion: 1, sealed: 'sealed' },
}
const subject = { id: 'subject', emailKey: email.key, email, accountId: 'account', proved: true }

/** The possible states of an address. */
const situations: Readonly<
  Record<string, (tx: Parameters<Parameters<Store['transaction']>[0]>[0]) => Promise<unknown>>
> = {
  'a placeholder': async ({ identity }) => identity.ensureSubject(email, 'placeholder'),
  'an account that carries it': async ({ identityAccounts }) => identityAccounts.register(email, 'account'),
  'a placeholder beside an account that carries it': async ({ identity, identityAccounts }) => {
    await identity.ensureSubject(email, 'placeholder')
    await identityAccounts.register(email, 'account')
  },
  'an account that owns it, and its subject': async ({ identity, identityAccounts }) => {
    await identity.insertSubject(subject)
    await identityAccounts.setProvedOwner(email, 'account')
  },
  'another account’s subject, with a direct verification': async ({ identity, identityAccounts }) => {
    await identity.insertSubject(subject)
    await identity.insertSubject({ id: 'direct', emailKey: null, email: null, accountId: 'account', proved: false })
    await identityAccounts.setProvedOwner(email, 'another')
  },
}

onBothDatabases((empty) => {
  test('a share takes the same statements, with any stored state of its address', async () => {
    const noted = new Map<string, string[]>()
    for (const [what, store] of Object.entries({ nothing: async () => undefined, ...situations })) {
      const engine = await empty()
      const statements: string[] = []
      await createStore(engine).migrate()
      const { transaction } = createStore(noting(engine, (statement) => statements.push(statement)))
      await transaction(store)
      statements.length = 0
      await transaction((tx) => tx.identity.ensureSubject(email, 'fresh'))
      await transaction(async ({ identity, identityAccounts }) => {
        const owner = await identityAccounts.findAddressOwner(email.key)
        const accountIds = owner === null ? [] : [owner.accountId]
        const subjects = await identity.lockPersons({ emailKey: email.key, accountIds })
        await identityAccounts.findAddressOwner(email.key)
        const added = redemption(subjects.find(({ emailKey }) => emailKey === email.key)?.id ?? '', 1)
        await identity.addRedemption(added)
        await identity.changeRedemption(added.externalUserId, { state: 'attached', applicantId: 'a', lookUpInMs: null })
        await identity.logShare(share({ subjectId: added.subjectId }))
      })
      noted.set(what, [...statements])
    }
    const [nothing = []] = noted.values()
    expect(nothing.filter((statement) => /^insert|^update/.test(statement))).toHaveLength(7)
    for (const [what, statements] of noted) expect(statements, what).toEqual(nothing)
  })
})
