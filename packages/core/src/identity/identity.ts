/** Sharing identity verifications, put together. Source: INTERFACE 4.2; DESIGN section 3 (identity provider). @module */
import { createHmac } from 'node:crypto'
import type { ShareResponse } from '@payment-integration/contract'
import type { IdentityAccounts } from '../ports/identity-accounts.js'
import type { IdentityProvider } from '../ports/identity-provider.js'
import type { Store } from '../ports/store.js'
import type { ShareAttempt, VerificationView } from '../ports/store-verifications.js'
import type { Clock, Ids, Logger, Random } from '../ports/world.js'
import type { MasterKey } from '../secrets/master-key.js'
import { type AccountClaims, createAccountClaims } from './claim-account.js'
import { createEmailCodes } from './email-codes.js'
import { createEmailKeys, type EmailKeys, openEmailKey } from './email-keys.js'
import { ShareRequestError } from './errors.js'
import { normaliseEmail } from './normalise-email.js'
import { createShare, type ShareInput } from './share.js'
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
  /** Gives proven addresses to accounts. */
  claims(): Promise<AccountClaims>
  /** The keyed hash that names an address to operators. @throws ShareRequestError `ERR_SHARE_INVALID` when it is no address. */
  emailKey(email: string): Promise<string>
  verifications(query: {
    readonly emailKey?: string | undefined
    readonly afterAccountId?: string | undefined
    readonly limit: number
  }): Promise<VerificationView[]>
  attempts(query: { readonly emailKey?: string | undefined; readonly limit: number }): Promise<ShareAttempt[]>
  /** Asks again and again until the signal aborts. It survives errors of the world. */
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
  const { everyMs = identityDefaults.everyMs } = deps
  const verdicts = createVerdicts({ store, provider, clock, logger })
  let opening: Promise<Opened> | undefined

  async function open(): Promise<Opened> {
    const dataKey = await openEmailKey({ dataKeys: store.dataKeys, keys: masterKey, random })
    const emails = createEmailKeys(dataKey, random)
    const codes = createEmailCodes(createHmac('sha256', dataKey).update('email-code').digest())
    return {
      emails,
      share: createShare({ store, accounts, provider, emails, clock, ids, logger }),
      claims: createAccountClaims({ store, accounts, emails, codes, clock }),
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
    async emailKey(email) {
      const address = normaliseEmail(email)
      if (address === null) throw new ShareRequestError('email must be a valid email address')
      return (await opened()).emails(address).key
    },
    verifications: (query) => store.verifications.list(query),
    attempts: (query) => store.verifications.attempts(query),
    async run(signal) {
      while (!signal.aborted) {
        try {
          await verdicts.ask()
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
