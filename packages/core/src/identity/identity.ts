/** Sharing identity verifications, put together. Source: INTERFACE 4.2; DESIGN section 3 (identity provider). @module */
import { createHmac } from 'node:crypto'
import type { ShareResponse } from '@payment-integration/contract'
import { createAudited } from '../audit/audited.js'
import type { AccountEvent, IdentityAccounts } from '../ports/identity-accounts.js'
import type { IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type {
  IdentityQuery,
  RedemptionAttempt,
  ShareAttempt,
  VerdictEntry,
  VerificationQuery,
  VerificationView,
} from '../ports/store-verifications.js'
import type { Clock, Ids, Logger, Random } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { type AccountClaims, createAccountClaims } from './claim-account.js'
import { createRecordDirectVerification, type RecordDirectVerification } from './direct-verification.js'
import { createEmailCodes } from './email-codes.js'
import { createEmailKeys, type EmailKeys, openEmailKey } from './email-keys.js'
import { createEndVerification, type Ended, type Ending } from './end-verification.js'
import { ShareRequestError } from './errors.js'
import { normaliseEmail } from './normalise-email.js'
import { createSettle, type Settled, type Settlement } from './settle-attempt.js'
import { createShare, type ShareInput } from './share.js'
import { untilStopped } from './until-stopped.js'
import { createVerdicts, type Verdict, type VerdictOutcome } from './verdicts.js'

/** What sharing needs from a host. */
export interface IdentityDeps {
  readonly store: Store
  readonly provider: IdentityProvider
  /** @default the store's own */
  readonly accounts?: IdentityAccounts | undefined
  readonly masterKey: MasterKey
  readonly clock: Clock
  readonly random: Random
  readonly ids: Ids
  readonly logger: Logger
  /** Begins the names of applicants: tells this service and environment from others at the provider. @default 'pi' */
  readonly namespace?: string | undefined
  /** Whom the audit log names for what operators do. @default 'service' */
  readonly actor?: string | undefined
  /** How often due questions are asked, in milliseconds. @default 30000 */
  readonly everyMs?: number | undefined
}

/** Identity verification sharing. */
export interface Identity {
  /**
   * Shares a verification: at most one redemption, whoever asks how often.
   * @throws VerificationUnavailableError `ERR_VERIFICATION_UNAVAILABLE`, ShareTokenRejectedError `ERR_SHARE_TOKEN_REJECTED`, IdentityUnavailableError
   * `ERR_IDENTITY_UNAVAILABLE`, IdentityMisconfiguredError `ERR_IDENTITY_MISCONFIGURED`, StoreError. After any of them the same request may be sent again.
   */
  share(input: ShareInput): Promise<ShareResponse>
  /** Applies what the provider says of an applicant, once. */
  applyVerdict(verdict: Verdict): Promise<VerdictOutcome>
  /** Asks the provider about verifications that are due. Resolves how many. */
  askDue(): Promise<number>
  /** Registers accounts of the store, and gives proven addresses to them. A host with users of its own does that by itself. */
  claims(): Promise<AccountClaims>
  /** Records a verification that a user did directly: docs/decisions/identity.md says when it counts. */
  readonly recordDirect: RecordDirectVerification
  /** The keyed hash that names an address to operators. @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address. */
  emailKey(email: string): Promise<string>
  verifications(query: VerificationQuery): Promise<VerificationView[]>
  /** The log of attempts to share, newest first. */
  attempts(query: IdentityQuery): Promise<ShareAttempt[]>
  /** Attempts that may have sent a token, newest first. */
  redemptions(query: IdentityQuery): Promise<RedemptionAttempt[]>
  /** What the provider said of applicants, newest first. */
  verdictEntries(query: IdentityQuery): Promise<VerdictEntry[]>
  /**
   * An operator says what became of a token of which nobody knows it: its attempt is `unresolved`, or `unknown` or `claimed` without a claim that runs.
   * The audit log names who did. It rejects with IdentityUnavailableError, IdentityMisconfiguredError, StoreError.
   */
  settleAttempt(settlement: Settlement): Promise<Settled>
  /**
   * An operator ends what otherwise the provider's webhook ends: the hold of an applicant that was switched off and is on again, or the wait for one that is
   * missing and was deleted there. The provider is asked first, and nothing is ended that it contradicts. The audit log names who did.
   * It rejects with IdentityUnavailableError, IdentityMisconfiguredError, StoreError.
   */
  endVerification(ending: Ending): Promise<Ended>
  /** What happened to accounts of the store, newest first. */
  accountEvents(query: IdentityQuery): Promise<AccountEvent[]>
  /** Asks again and again until the signal aborts; then it ends at once, whatever the provider owes an answer to. It survives errors of the world. */
  run(signal: AbortSignal): Promise<void>
}

/** Default of {@link IdentityDeps.everyMs}. */
export const identityDefaults = { everyMs: 30_000 } as const

interface Opened {
  readonly emails: EmailKeys
  readonly share: (input: ShareInput) => Promise<ShareResponse>
  readonly claims: AccountClaims
}

/** Builds it. The key of addresses is opened by the first call that needs it, and again after a failure. */
export function createIdentity(deps: IdentityDeps): Identity {
  const { store, provider, accounts = store.identityAccounts, masterKey, clock, random, ids, logger } = deps
  const { everyMs = identityDefaults.everyMs, namespace, actor = 'service' } = deps
  const holdsAddresses = accounts === store.identityAccounts
  let stopping: AbortSignal | undefined
  const asked = untilStopped(provider, () => stopping)
  const verdicts = createVerdicts({ store, provider: asked, clock, ids, logger, holdsAddresses })
  const transaction: Store['transaction'] = (work) => store.transaction(work)
  const audited = createAudited({ transaction, keys: masterKey, clock, actor })
  const operated = { store, provider, clock, ids, logger, audited, holdsAddresses }
  let opening: Promise<Opened> | undefined

  async function open(): Promise<Opened> {
    const dataKey = await openEmailKey({ dataKeys: store.dataKeys, keys: masterKey, random })
    const emails = createEmailKeys(dataKey, random)
    const codes = createEmailCodes(createHmac('sha256', dataKey).update('email-code').digest(), random)
    return {
      emails,
      share: createShare({ store, accounts, provider, emails, clock, ids, logger, namespace, holdsAddresses }),
      claims: createAccountClaims({ store, emails, codes, clock, ids }),
    }
  }
  function opened(): Promise<Opened> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    share: async (input) => (await opened()).share(input),
    applyVerdict: (verdict) => verdicts.apply(verdict),
    askDue: () => verdicts.ask(),
    claims: async () => (await opened()).claims,
    recordDirect: createRecordDirectVerification({ store, clock }),
    async emailKey(email) {
      const address = normaliseEmail(email)
      if (address === null) throw new ShareRequestError('email must be a valid email address')
      return (await opened()).emails(address).key
    },
    verifications: (query) => store.verifications.list(query),
    attempts: (query) => store.verifications.attempts(query),
    redemptions: (query) => store.verifications.redemptions(query),
    verdictEntries: (query) => store.verifications.verdicts(query),
    settleAttempt: createSettle(operated),
    endVerification: createEndVerification(operated),
    accountEvents: (query) => store.identityAccounts.events(query),
    async run(signal) {
      stopping = signal
      while (!signal.aborted) {
        try {
          await verdicts.ask(undefined, signal)
        } catch (error) {
          logger.error(
            { error: error instanceof Error ? error.name : typeof error },
            'Verifications could not be asked about.',
          )
        }
        await clock.sleep(everyMs, signal)
      }
    },
  }
}
