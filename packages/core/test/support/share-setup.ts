import { createAudited } from '../../src/audit/audited.js'
import { createEmailKeys } from '../../src/identity/email-keys.js'
import { createEndVerification } from '../../src/identity/end-verification.js'
import { createSettle } from '../../src/identity/settle-attempt.js'
import { createShare } from '../../src/identity/share.js'
import { createVerdicts, type Verdict } from '../../src/identity/verdicts.js'
import type { Review } from '../../src/ports/identity-provider.js'
import type { Store } from '../../src/ports/store.js'
import { parseMasterKey } from '../../src/secrets/master-key.js'
import { manualClock } from './manual-clock.js'
import { memoryIdentityAccounts } from './memory-identity-accounts.js'
import { memoryStore } from './memory-store.js'
import { recordingLogger } from './recording-logger.js'
import { scriptedProvider } from './scripted-provider.js'
import { seededRandom } from './seeded-random.js'

/** Two integrations. */
export const shop = `0x${'a1'.repeat(20)}`
export const otherShop = `0x${'b2'.repeat(20)}`

/** An address that must appear nowhere. */
export const email = 'canary.user@example.com'

/** Reviews as the provider gives them. */
export const review = (
  reviewStatus: Review['reviewStatus'],
  reviewAnswer: Review['reviewAnswer'] = null,
  rejectType: Review['rejectType'] = null,
): Review => ({ reviewStatus, reviewAnswer, rejectType, rejectLabels: rejectType === null ? [] : ['BLURRY'] })
export const approved = review('completed', 'GREEN')
export const rejected = review('completed', 'RED', 'RETRY')
export const begun = review('init')
export const notStarted = review('not_started')

/** Sharing and verdicts on a memory store, a scripted provider and a clock that the test moves. `holdsAddresses`: whether addresses may go to other accounts. */
export function shareSetup({ holdsAddresses = false } = {}) {
  const clock = manualClock()
  const store = memoryStore({ now: () => clock.now() })
  const provider = scriptedProvider(() => clock.now())
  const logger = recordingLogger()
  const accounts = memoryIdentityAccounts(store)
  const emails = createEmailKeys(seededRandom('data key').bytes(32), seededRandom('nonces'))
  let made = 0
  const ids = { next: () => `id ${++made}` }
  const deps = { accounts, provider, emails, clock, ids, logger, holdsAddresses }
  const shareOn = (on: Pick<Store, 'transaction'>) => createShare({ ...deps, store: on })
  const share = shareOn(store)
  const verdicts = createVerdicts({ store, provider, clock, ids, logger, holdsAddresses })
  const keys = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'cli:ada' })
  const settle = createSettle({ store, provider, clock, ids, logger, audited, holdsAddresses })
  const endVerification = createEndVerification({ store, provider, clock, logger, audited })
  let tokens = 0
  return {
    clock,
    store,
    provider,
    logger,
    accounts,
    verdicts,
    settle,
    audited,
    holdsAddresses,
    endVerification,
    /** The audit log: who did what to whom. */
    audit: () => store.committed().audit.map(({ actor, action, subject }) => `${actor} ${action} ${subject}`),
    emails,
    ids,
    shareOn,
    /** Shares with a fresh token, unless one is given. */
    share: (by: string = shop, shareToken = `canary-token ${++tokens}`) =>
      share({ integrationAddress: by, email, shareToken }),
    /** The same for another address. */
    shareFor: (address: string, by: string = shop) =>
      share({ integrationAddress: by, email: address, shareToken: `canary-token ${++tokens}` }),
    of: (accountId: string) => store.transaction((tx) => tx.verifications.lock(accountId)),
    /** The only verification there is. */
    verification: () => store.transaction((tx) => tx.verifications.lock('account-1')),
    /** How the attempts ended, oldest first. */
    async outcomes() {
      return (await store.verifications.attempts({ limit: 100 })).map(({ outcome }) => outcome).reverse()
    },
    /** The names that tokens were sent under: whose they were and what became of them, oldest first. */
    async redemptions() {
      const attempts = await store.verifications.redemptions({ limit: 100 })
      return attempts
        .map(({ externalUserId, integrationAddress, state }) => [externalUserId, integrationAddress, state])
        .reverse()
    },
    /** What the provider said, oldest first: whether it counted. */
    async history() {
      const entries = await store.verifications.verdicts({ limit: 100 })
      return entries.map(({ source, news, outcome }) => `${source} ${news} ${outcome}`).reverse()
    },
    /** Lets a webhook of the newest applicant come. */
    webhook(
      given: Review | null,
      {
        at = clock.now(),
        name = 'pi:account-1:1',
        key = '',
        news,
      }: { at?: number; name?: string; key?: string; news?: Verdict['news'] } = {},
    ) {
      const applicantId = `applicant of ${name}`
      const eventKey = key === '' ? `event ${at} ${news ?? 'review'}` : key
      return verdicts.apply({ eventKey, applicantId, externalUserId: name, at, review: given, news })
    },
  }
}
