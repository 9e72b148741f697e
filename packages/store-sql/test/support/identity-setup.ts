/** Identity on a database, with a provider that redeems every token and whose answers may be lost. @module */
import { parseMasterKey, silentLogger, systemClock, systemIds, systemRandom } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { createIdentity } from '../../../core/src/identity/identity.js'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'

/** Two integrations. */
export const [shop, otherShop] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
/** An address. */
export const email = 'user@shop.example'
const masterKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const lost = { kind: 'unavailable', reason: 'lost' } as const

/** Builds it on an empty database. */
export async function identityOn(engine: Engine) {
  const opened = createStore(engine)
  await opened.migrate()
  /** Number of retried transactions. */
  const conflicts = { count: 0 }
  const transaction: Store['transaction'] = (work) => {
    let isFirst = true
    return opened.transaction((tx) => {
      if (!isFirst) conflicts.count += 1
      isFirst = false
      return work(tx)
    })
  }
  const answers = { areLost: false }
  const applicant = (externalUserId: string) => ({ applicantId: `of ${externalUserId}`, review: null })
  const identity = createIdentity({
    ...{ masterKey, clock: systemClock, random: systemRandom, ids: systemIds, logger: silentLogger },
    store: { ...opened, transaction },
    provider: {
      redeem: async ({ externalUserId }) =>
        answers.areLost ? { ...lost, kind: 'unknown' } : { kind: 'redeemed', applicant: applicant(externalUserId) },
      find: async (externalUserId) => (answers.areLost ? lost : { kind: 'answer', value: applicant(externalUserId) }),
      review: async () => lost,
    },
  })
  const accounts = await identity.accounts()
  const register = async (address = email) => (await accounts.register(address)).accountId
  const getCode = async (address: string) => (await accounts.requestCode(address)).code
  return {
    ...{ store: opened, conflicts, identity, answers, accounts, register, getCode },
    share: (by = shop, address = email) =>
      identity.share({ integrationAddress: by, email: address, shareToken: 'token' }),
    prove: async (address: string, accountId: string) =>
      accounts.proveByCode(address, await getCode(address), { accountId }),
    /** The accounts with a verification, and its donors. */
    donated: async () =>
      (await identity.subjects({ limit: 100 }))
        .filter(({ donor }) => donor !== null)
        .map(({ accountId, donor }) => ({ accountId, donor })),
  }
}
