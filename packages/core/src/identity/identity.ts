/** Assembles identity sharing: shares, webhooks, polls and accounts. Source: docs/interface.md 4.2. @module */
import { createHmac } from 'node:crypto'
import { createAudited } from '../history/audit-log.js'
import { describeError } from '../internal/values.js'
import type { IdentityAccounts, IdentityProvider } from '../ports/identity.js'
import type { Clock, IdSource, Logger, RandomSource } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { MasterKey } from '../secrets/keys.js'
import { createAccounts, type HostProof, type IdentityAccountCommands } from './accounts.js'
import { createCheckedProvider } from './checked-provider.js'
import { createEmailCodes, createSealEmail, openEmailKey, parseAndSealEmail } from './emails.js'
import type { IdentityQuery, SubjectQuery } from './identity-store.js'
import { createIdentityActions } from './operator-actions.js'
import { createPollDue } from './poll.js'
import { checkNamespace, defaultNamespace } from './redemption.js'
import { createShare, type ShareInput } from './share.js'
import { createApplyVerdict, createRecordDirectVerification } from './webhooks.js'

/** The provider and the options of a host. */
export interface IdentityOptions {
  readonly provider: IdentityProvider
  /** The host's own users. @default accounts in the store */
  readonly accounts?: IdentityAccounts | undefined
  /** Prefix of external user ids: separates this service and environment from others at the provider. @default 'pi' */
  readonly namespace?: string | undefined
  /** Time from one round of look-ups and polls to the next, in milliseconds. @default 30000 */
  readonly everyMs?: number | undefined
}

export interface IdentityDeps extends IdentityOptions {
  readonly store: Store
  readonly masterKey: MasterKey
  readonly clock: Clock
  readonly random: RandomSource
  readonly ids: IdSource
  readonly logger: Logger
  /** The actor in the audit log for acts of operators. */
  readonly actor: string
}

/** Shares identity verifications. Operator actions called on it are in the audit log under the option `actor`. */
export type Identity = ReturnType<typeof createIdentity>

export function createIdentity(deps: IdentityDeps) {
  const { store, accounts, masterKey, clock, random, ids, logger, actor, everyMs = 30_000 } = deps
  const provider = createCheckedProvider(deps.provider, logger)
  const namespace = checkNamespace(deps.namespace ?? defaultNamespace)
  const pollDue = createPollDue({ store, provider, clock, logger })
  const transaction: Store['transaction'] = (work) => store.transaction(work)
  /** The same operator actions, recorded under another actor. @throws RangeError As `actingAs` of the service. */
  const actingAs = (name: string) => {
    const audited = createAudited({ transaction, keys: masterKey, clock, actor: name })
    return createIdentityActions({ store, provider, clock, logger, audited })
  }
  let opening: ReturnType<typeof openWithEmailKey> | undefined

  async function openWithEmailKey() {
    const dataKey = await openEmailKey(store.dataKeys, masterKey, random)
    const sealEmail = createSealEmail(dataKey, random)
    const codes = createEmailCodes(createHmac('sha256', dataKey).update('email-code').digest(), random)
    return {
      sealEmail,
      share: createShare({ store, accounts, provider, sealEmail, clock, ids, logger, namespace }),
      accounts: createAccounts({ store, sealEmail, codes, clock, ids, hasStoreAccounts: accounts === undefined }),
    }
  }
  /** The first call that needs the key of e-mail addresses opens it; after a failure the next call tries again. */
  function openOnce(): ReturnType<typeof openWithEmailKey> {
    opening ??= openWithEmailKey().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    /**
     * Shares a verification. Concurrent requests for one person cause at most one redemption. After any error the
     * client may send the same request again.
     * @throws VerificationUnavailableError `ERR_VERIFICATION_UNAVAILABLE`, ShareTokenRejectedError
     * `ERR_SHARE_TOKEN_REJECTED`, IdentityUnavailableError `ERR_IDENTITY_UNAVAILABLE`, IdentityMisconfiguredError
     * `ERR_IDENTITY_MISCONFIGURED`, StoreError.
     */
    share: async (input: ShareInput) => (await openOnce()).share(input),
    /** Applies a webhook of the provider, once. */
    applyVerdict: createApplyVerdict({ store, clock, logger }),
    /** Looks up due redemptions and polls due verifications. Resolves their number. */
    pollDue: () => pollDue(),
    /** The store's own accounts. A host with users of its own reports proofs by `reportProof` instead. */
    accounts: async (): Promise<IdentityAccountCommands> => (await openOnce()).accounts,
    /**
     * Reports that a host's user proved an address. Call it at once.
     * @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID` for an invalid address; EmailProofError
     * `ERR_EMAIL_PROOF` when the accounts are the store's own and the id is unknown.
     */
    reportProof: async (proof: HostProof) => (await openOnce()).accounts.reportProof(proof),
    /** Records a direct verification of a user. Source: docs/decisions/identity.md. */
    recordDirect: createRecordDirectVerification({ store, clock }, ids),
    /** The keyed hash of an address, for operators. @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID`. */
    emailKey: async (email: string) => parseAndSealEmail(email, (await openOnce()).sealEmail).key,
    subjects: (query: SubjectQuery) => store.identity.subjects(query),
    /** The log of shares, newest first. */
    shares: (query: IdentityQuery) => store.identity.shares(query),
    /** Redemptions, newest first. */
    redemptions: (query: IdentityQuery) => store.identity.redemptions(query),
    /** Reports about applicants, newest first. */
    verdicts: (query: IdentityQuery) => store.identity.verdicts(query),
    /** Events of the store's own accounts, newest first. */
    accountEvents: (query: IdentityQuery) => store.identity.accountEvents(query),
    ...actingAs(actor),
    actingAs,
    /** Polls until the signal aborts, then stops at once. Errors of store and provider do not stop it. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        try {
          await pollDue(signal)
        } catch (error) {
          logger.error({ error: describeError(error) }, 'Due verifications could not be polled.')
        }
        await clock.sleep(everyMs, signal)
      }
    },
  }
}
