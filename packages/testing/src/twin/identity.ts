/** Identity verification in a twin: an in-process provider behind the service's own adapter. @module */
import type { Service } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { createSumsubClient, createWebhookReader } from '@payment-integration/identity-sumsub/service'
import { createSumsubIdentityProvider } from '@payment-integration/server'
import type { FakeClock } from '../builders.js'
import { createDraws } from '../builders.js'
import type { NewApplicant } from '../identity-provider/applicants.js'
import { createIdentityProvider, type LocalIdentityProvider } from '../identity-provider/provider.js'

/** A user whom the integrator has already verified. */
export interface TwinUser extends Pick<NewApplicant, 'as' | 'steps'> {
  /** Lifetime of the share token, in seconds. @default 1200 */
  readonly ttlInSecs?: number | undefined
}

const changes = [
  'approve',
  'reject',
  'moveTo',
  'handIn',
  'resetApplicant',
  'setActive',
  'deleteApplicant',
  'announce',
] as const

/** A change that the provider reports by a webhook. */
export type TwinReviewChange = (typeof changes)[number]

/** Such a change, by applicant id or by share token; resolves once the service is idle. */
export type TwinReviewCall<Call> = Call extends (applicantId: string, ...more: infer More) => void
  ? (applicant: string, ...more: More) => Promise<void>
  : never

/** The arguments of `mintShareToken` of identity-sumsub, without `applicantId`. */
export interface TwinMinting {
  readonly baseUrl: string
  readonly appToken: string
  readonly secretKey: string
  readonly forClientId: string
  readonly fetch: typeof fetch
  readonly now: () => number
}

/** The identity provider of a twin, from the test's side. */
export interface TwinIdentity
  extends Readonly<{
    [Name in TwinReviewChange]: TwinReviewCall<LocalIdentityProvider[Name]>
  }> {
  /** Adds a user whom the integrator has verified, and mints a share token. */
  shareToken(user?: TwinUser): string
  /** Arguments to mint by a request, as an integrator does: `mintShareToken({ ...minting, applicantId })`. */
  readonly minting: TwinMinting
  /** The provider's faults, records and applicants. Webhooks of changes made here wait for the twin's next call. */
  readonly provider: LocalIdentityProvider
}

export type TwinIdentityParts = ReturnType<typeof createTwinIdentity>

const [integrator, recipient] = ['Integrator', 'PaymentService'] as const
/** The clients of a twin's provider. */
export const twinClients = { donor: integrator, service: recipient } as const
const baseUrl = 'https://identity-provider.test'
const webhookUrl = 'https://payments.test/api/v1/identity-provider/webhook'

/** Timeout in milliseconds, long enough for a busy machine: an in-process provider answers at once or never. */
const timeoutMs = 5_000

/** Practically no rate limit: while the twin's clock stands still, a limited request would wait for ever. */
const limits = { redemptions: 1_000_000, lookUps: 1_000_000, polls: 1_000_000 } as const

/** Creates the provider and the adapter. @param post - Sends a webhook to the API of the twin. */
export function createTwinIdentity(
  seed: number,
  { now }: Pick<FakeClock, 'now'>,
  post: (request: Request) => Promise<Response>,
) {
  // A separate sequence, so that a share changes no other random values.
  const draws = createDraws((seed ^ 0x1d) >>> 0)
  const secret = () => draws.hex(16).slice(2)
  const [secretKey, serviceKey, webhookSecret] = [secret(), secret(), secret()]
  const webhooks = [{ url: webhookUrl, secretKey: webhookSecret }]
  const provider = createIdentityProvider({
    clients: [
      { clientId: integrator, appToken: 'sbx:integrator', secretKey, partners: [recipient] },
      { clientId: recipient, appToken: 'sbx:service', secretKey: serviceKey, partners: [integrator], webhooks },
    ],
    now,
    newId: () => draws.hex(12).slice(2),
    sendWebhook: post,
  })
  const connection = { baseUrl, fetch: provider.fetch, now, timeoutMs }
  const access = { appToken: 'sbx:service', secretKey: serviceKey, levelName: 'basic-kyc-level' }
  const settings = { ...connection, ...access, limits, clock: { now }, monotonicNow: now }
  const open = () => createSumsubIdentityProvider(createSumsubClient, settings)
  let connected = open()
  /** Whether anything can be due. */
  const isUsed = () => provider.requests.length > 0 || provider.applicants(recipient).length > 0
  const isWebhookDue = () => (provider.nextWebhookAt() ?? Number.POSITIVE_INFINITY) <= now()
  /** Delivers the due webhooks. @returns Their number. */
  const deliver = async () => (isWebhookDue() ? (await provider.deliverWebhooks()).length : 0)
  const findApplicantId = (name: string) =>
    provider.redemptions.find(({ token }) => token === name)?.applicantId ?? name

  return {
    provider,
    isUsed,
    deliver,
    /** Connects a new process of the service, and aborts the requests of the former process. */
    connect() {
      connected.close()
      connected = open()
      return connected
    },
    readWebhook: createWebhookReader({ secret: webhookSecret }),
    /** Whether a webhook, a look-up or a poll is due. */
    async isDue({ identity }: Pick<Store, 'identity'>) {
      if (!isUsed()) return false
      if (isWebhookDue()) return true
      return (await identity.dueLookUps(1)).length > 0 || (await identity.duePolls(1)).length > 0
    },
    /** Delivers the due webhooks and polls. @returns Their number. */
    async settle({ identity }: Pick<Service, 'identity'>) {
      if (!isUsed()) return 0
      return (await deliver()) + ((await identity?.pollDue()) ?? 0)
    },
    /** Creates the test's view of the provider. `settle` makes the twin idle. */
    control(settle: () => Promise<void>): TwinIdentity {
      const settled = changes.map((name) => [
        name,
        async (applicant: string, ...more: never[]) => {
          const change = provider[name] as (applicantId: string, ...more: never[]) => void
          change(findApplicantId(applicant), ...more)
          await settle()
        },
      ])
      return {
        ...(Object.fromEntries(settled) as Pick<TwinIdentity, TwinReviewChange>),
        provider,
        minting: { ...connection, appToken: 'sbx:integrator', secretKey, forClientId: recipient },
        shareToken({ ttlInSecs, ...user } = {}) {
          const { id: applicantId } = provider.addApplicant({ clientId: integrator, ...user })
          return provider.mintShareToken({ applicantId, forClientId: recipient, ttlInSecs })
        },
      }
    },
  }
}
