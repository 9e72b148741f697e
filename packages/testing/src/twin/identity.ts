/** Identity verification in a twin: a provider in the process, and the service's own adapter to it. @module */
import type { Service } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import {
  createSumsubClient,
  createWebhookReader,
  type WebhookReader,
} from '@payment-integration/identity-sumsub/service'
import { createSumsubIdentityProvider } from '@payment-integration/server'
import type { ClosableIdentityProvider } from '@payment-integration/server/internal'
import type { FakeClock } from '../builders.js'
import { createDraws } from '../builders.js'
import type { NewApplicant } from '../identity-provider/applicants.js'
import { createIdentityProvider, type LocalIdentityProvider } from '../identity-provider/provider.js'

/** A user whom the integrator verified before. */
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

/** The same change, by applicant id or by the share token of the applicant; it resolves when the service is idle. */
export type TwinReviewCall<Call> = Call extends (applicantId: string, ...more: infer More) => void
  ? (applicant: string, ...more: More) => Promise<void>
  : never

/** What `mintShareToken` of identity-sumsub needs besides an `applicantId`. */
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
  /** Adds a verified user of the integrator, and mints a share token. */
  shareToken(user?: TwinUser): string
  /** Mints by a request, as an integrator does: `mintShareToken({ ...minting, applicantId })`. */
  readonly minting: TwinMinting
  /** Its faults, records and applicants. Webhooks of its own changes wait for the next call of the twin. */
  readonly provider: LocalIdentityProvider
}

export interface TwinIdentityParts {
  readonly provider: LocalIdentityProvider
  /** Connects a new process of the service. Requests of the former one are aborted. */
  connect(): ClosableIdentityProvider
  readonly readWebhook: WebhookReader
  /** Whether anything can be due. */
  isUsed(): boolean
  /** Whether a webhook, a look-up or a poll is due. */
  isDue(store: Pick<Store, 'identity'>): Promise<boolean>
  /** Delivers the due webhooks. @returns Their number. */
  deliver(): Promise<number>
  /** Delivers the due webhooks and polls. @returns Their number. */
  settle(service: Pick<Service, 'identity'>): Promise<number>
  /** Makes the test's side. `settle` makes the twin idle. */
  control(settle: () => Promise<void>): TwinIdentity
}

const [integrator, recipient] = ['Integrator', 'PaymentService'] as const
/** The provider's clients of a twin. */
export const twinClients = { donor: integrator, service: recipient } as const
const baseUrl = 'https://identity-provider.test'
const webhookUrl = 'https://payments.test/api/v1/identity-provider/webhook'

/** A provider in the process answers at once or never: much longer than a busy machine needs, in milliseconds. */
const timeoutMs = 5_000

/** The twin's clock stands still, so a request that waited for a turn would wait for ever: as good as no limit. */
const limits = { redemptions: 1_000_000, lookUps: 1_000_000, polls: 1_000_000 } as const

/** Makes both sides. @param post - Sends a webhook to the API of the twin. */
export function createTwinIdentity(
  seed: number,
  { now }: Pick<FakeClock, 'now'>,
  post: (request: Request) => Promise<Response>,
): TwinIdentityParts {
  // Of its own, so that a share moves no other draw.
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
  const open = () =>
    createSumsubIdentityProvider(createSumsubClient, {
      ...connection,
      ...access,
      limits,
      clock: { now },
      monotonicNow: now,
    })
  let connected = open()
  const isUsed = () => provider.requests.length > 0 || provider.applicants(recipient).length > 0
  const isWebhookDue = () => (provider.nextWebhookAt() ?? Number.POSITIVE_INFINITY) <= now()
  const deliver = async () => (isWebhookDue() ? (await provider.deliverWebhooks()).length : 0)
  const findApplicantId = (name: string) =>
    provider.redemptions.find(({ token }) => token === name)?.applicantId ?? name

  return {
    provider,
    isUsed,
    deliver,
    connect() {
      connected.close()
      connected = open()
      return connected
    },
    readWebhook: createWebhookReader({ secret: webhookSecret }),
    async isDue({ identity }) {
      if (!isUsed()) return false
      if (isWebhookDue()) return true
      return (await identity.dueLookUps(1)).length > 0 || (await identity.duePolls(1)).length > 0
    },
    async settle({ identity }) {
      if (!isUsed()) return 0
      return (await deliver()) + ((await identity?.pollDue()) ?? 0)
    },
    control(settle) {
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
