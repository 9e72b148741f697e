/** Assembles identity sharing: shares, webhooks, polls and accounts. Source: docs/interface.md 4.2. @module */
import { createHmac } from 'node:crypto'
import type { ShareResponse } from '@payment-integration/contract'
import { createAudited } from '../history/audit-log.js'
import { describeError } from '../internal/values.js'
import type { IdentityAccounts, IdentityProvider } from '../ports/identity.js'
import type { Clock, IdSource, Logger, RandomSource } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import type { MasterKey } from '../secrets/keys.js'
import { createAccounts, type HostProof, type IdentityAccountCommands } from './accounts.js'
import { createCheckedProvider } from './checked-provider.js'
import { createEmailCodes, createSealEmail, openEmailKey, parseAndSealEmail } from './emails.js'
import type { IdentityStore } from './identity-store.js'
import { createIdentityActions, type IdentityActions } from './operator-actions.js'
import { createPollDue } from './poll.js'
import { checkNamespace, defaultNamespace } from './redemption.js'
import { createShare, type ShareInput } from './share.js'
import type { DirectDecision, DirectVerification, ProviderVerdict, VerdictOutcome } from './webhooks.js'
import { createApplyVerdict, createRecordDirectVerification } from './webhooks.js'

/** Shares identity verifications. Operator actions called on it are in the audit log under the option `actor`. */
export interface Identity
  extends IdentityActions,
    Pick<IdentityStore, 'subjects' | 'shares' | 'redemptions' | 'verdicts' | 'accountEvents'> {
  /**
   * Shares a verification. Concurrent requests for one person cause at most one redemption. After any error the client
   * may send the same request again.
   * @throws VerificationUnavailableError `ERR_VERIFICATION_UNAVAILABLE`, ShareTokenRejectedError
   * `ERR_SHARE_TOKEN_REJECTED`, IdentityUnavailableError `ERR_IDENTITY_UNAVAILABLE`, IdentityMisconfiguredError
   * `ERR_IDENTITY_MISCONFIGURED`, StoreError.
   */
  share(input: ShareInput): Promise<ShareResponse>
  /** Applies a webhook of the provider, once. */
  applyVerdict(verdict: ProviderVerdict): Promise<VerdictOutcome>
  /** Looks up due redemptions and polls due verifications. Resolves their number. */
  pollDue(): Promise<number>
  /** The store's own accounts. A host with users of its own reports proofs by `reportProof` instead. */
  accounts(): Promise<IdentityAccountCommands>
  /**
   * Reports that a host's user proved an address. Call it at once.
   * @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID` for an invalid address; EmailProofError
   * `ERR_EMAIL_PROOF` when the accounts are the store's own and the id is unknown.
   */
  reportProof(proof: HostProof): Promise<void>
  /** Records a direct verification of a user. Source: docs/decisions/identity.md. */
  recordDirect(verification: DirectVerification): Promise<DirectDecision>
  /** The keyed hash of an address, for operators. @throws InvalidShareRequestError `ERR_SHARE_REQUEST_INVALID`. */
  emailKey(email: string): Promise<string>
  /** The same operator actions, recorded under another actor. @throws RangeError As `actingAs` of the service. */
  actingAs(actor: string): IdentityActions
  /** Polls until the signal aborts, then stops at once. Errors of store and provider do not stop it. */
  run(signal: AbortSignal): Promise<void>
}

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

/** The first call that needs the key of e-mail addresses opens it; after a failure the next call tries again. */
export function createIdentity(deps: IdentityDeps): Identity {
  const { store, accounts, masterKey, clock, random, ids, logger, actor, everyMs = 30_000 } = deps
  const provider = createCheckedProvider(deps.provider, logger)
  const namespace = checkNamespace(deps.namespace ?? defaultNamespace)
  const pollDue = createPollDue({ store, provider, clock, logger })
  const transaction: Store['transaction'] = (work) => store.transaction(work)
  const actingAs = (name: string): IdentityActions => {
    const audited = createAudited({ transaction, keys: masterKey, clock, actor: name })
    return createIdentityActions({ store, provider, clock, logger, audited })
  }
  let opening: ReturnType<typeof open> | undefined

  async function open() {
    const dataKey = await openEmailKey(store.dataKeys, masterKey, random)
    const sealEmail = createSealEmail(dataKey, random)
    const codes = createEmailCodes(createHmac('sha256', dataKey).update('email-code').digest(), random)
    return {
      sealEmail,
      share: createShare({ store, accounts, provider, sealEmail, clock, ids, logger, namespace }),
      accounts: createAccounts({ store, sealEmail, codes, clock, ids, hasStoreAccounts: accounts === undefined }),
    }
  }
  function openOnce(): ReturnType<typeof open> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    share: async (input) => (await openOnce()).share(input),
    applyVerdict: createApplyVerdict({ store, clock, logger }),
    pollDue: () => pollDue(),
    accounts: async () => (await openOnce()).accounts,
    reportProof: async (proof) => (await openOnce()).accounts.reportProof(proof),
    recordDirect: createRecordDirectVerification({ store, clock }, ids),
    emailKey: async (email) => parseAndSealEmail(email, (await openOnce()).sealEmail).key,
    subjects: (query) => store.identity.subjects(query),
    shares: (query) => store.identity.shares(query),
    redemptions: (query) => store.identity.redemptions(query),
    verdicts: (query) => store.identity.verdicts(query),
    accountEvents: (query) => store.identity.accountEvents(query),
    ...actingAs(actor),
    actingAs,
    async run(signal) {
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
