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

/** The calls that change an applicant. The provider reports each change by a webhook. */
const applicantChanges = [
  'approve',
  'reject',
  'moveTo',
  'handIn',
  'resetApplicant',
  'setActive',
  'deleteApplicant',
  'announce',
] as const

type ApplicantChange = (typeof applicantChanges)[number]

/** A call that names an applicant by id or by share token, and changes it; resolves once the service is idle. */
type TwinChangeCall<Call> = Call extends (applicantId: string, ...details: infer Details) => void
  ? (applicant: string, ...details: Details) => Promise<void>
  : never

/** The arguments of `mintShareToken` of identity-sumsub, without `applicantId`. */
interface TwinMinting {
  readonly baseUrl: string
  readonly appToken: string
  readonly secretKey: string
  readonly forClientId: string
  readonly fetch: typeof fetch
  readonly clock: Pick<FakeClock, 'now'>
}

/** The identity provider of a twin, from the test's side. */
export interface TwinIdentity
  extends Readonly<{ [Name in ApplicantChange]: TwinChangeCall<LocalIdentityProvider[Name]> }> {
  /** Adds a user whom the integrator has verified, and mints a share token. */
  shareToken(user?: TwinUser): string
  /** Arguments to mint by a request, as an integrator does: `mintShareToken({ ...minting, applicantId })`. */
  readonly minting: TwinMinting
  /** The provider's faults, records and applicants. Webhooks of changes made here wait for the twin's next call. */
  readonly provider: LocalIdentityProvider
}

export type TwinIdentityService = ReturnType<typeof createTwinIdentity>

/** The client ids of a twin's provider. */
export const twinClients = { donor: 'Integrator', service: 'PaymentService' } as const
const { donor: integrator, service } = twinClients
const baseUrl = 'https://identity-provider.test'
const webhookUrl = 'https://payments.test/api/v1/identity-provider/webhook'

/** Timeout in milliseconds, long enough for a busy machine: an in-process provider answers at once or never. */
const timeoutMs = 5_000

/** Practically no rate limit: while the twin's clock stands still, a limited request would wait for ever. */
const limits = { redemptions: 1_000_000, lookUps: 1_000_000, polls: 1_000_000 } as const

/** Creates the provider and the adapter. @param postWebhook - Sends a webhook to the API of the twin. */
export function createTwinIdentity(
  seed: number,
  clock: Pick<FakeClock, 'now'>,
  postWebhook: (request: Request) => Promise<Response>,
) {
  // A separate sequence, so that a share changes no other random values.
  const draws = createDraws((seed ^ 0x1d) >>> 0)
  const drawSecret = () => draws.hex(16).slice(2)
  const [integratorKey, serviceKey, webhookSecret] = [drawSecret(), drawSecret(), drawSecret()]
  const webhooks = [{ url: webhookUrl, secretKey: webhookSecret }]
  const provider = createIdentityProvider({
    clients: [
      { clientId: integrator, appToken: 'sbx:integrator', secretKey: integratorKey, partners: [service] },
      { clientId: service, appToken: 'sbx:service', secretKey: serviceKey, partners: [integrator], webhooks },
    ],
    clock,
    newId: () => draws.hex(12).slice(2),
    sendWebhook: postWebhook,
  })
  const access = { baseUrl, fetch: provider.fetch, clock, timeoutMs }
  const credentials = { appToken: 'sbx:service', secretKey: serviceKey, levelName: 'basic-kyc-level' }
  const settings = { ...access, ...credentials, limits, monotonicClock: clock }
  const createAdapter = () => createSumsubIdentityProvider(createSumsubClient, settings)
  let adapter = createAdapter()
  /** Whether anything can be due. */
  const isInUse = () => provider.requests.length > 0 || provider.applicants(service).length > 0
  const isWebhookDue = () => (provider.nextWebhookAt() ?? Number.POSITIVE_INFINITY) <= clock.now()
  /** Delivers the due webhooks. @returns Their number. */
  const deliverWebhooks = async () => (isWebhookDue() ? (await provider.deliverWebhooks()).length : 0)
  const findApplicantId = (idOrToken: string) =>
    provider.redemptions.find(({ token }) => token === idOrToken)?.applicantId ?? idOrToken

  return {
    provider,
    isInUse,
    deliverWebhooks,
    /** Connects a new process of the service, and aborts the requests of the former process. */
    reconnect() {
      adapter.close()
      adapter = createAdapter()
      return adapter
    },
    readWebhook: createWebhookReader({ secret: webhookSecret }),
    /** Whether a webhook, a look-up or a poll is due. */
    async isDue({ identity }: Pick<Store, 'identity'>) {
      if (!isInUse()) return false
      if (isWebhookDue()) return true
      return (await identity.dueLookUps(1)).length > 0 || (await identity.duePolls(1)).length > 0
    },
    /** Delivers the due webhooks, and runs the due polls. @returns Their number. */
    async settle({ identity }: Pick<Service, 'identity'>) {
      if (!isInUse()) return 0
      return (await deliverWebhooks()) + ((await identity?.pollDue()) ?? 0)
    },
    /** Creates the test's view of the provider. `settle` makes the twin idle. */
    createControl(settle: () => Promise<void>): TwinIdentity {
      const calls = applicantChanges.map((name) => [
        name,
        async (idOrToken: string, ...details: never[]) => {
          const change = provider[name] as (applicantId: string, ...details: never[]) => void
          change(findApplicantId(idOrToken), ...details)
          await settle()
        },
      ])
      return {
        ...(Object.fromEntries(calls) as Pick<TwinIdentity, ApplicantChange>),
        provider,
        minting: { ...access, appToken: 'sbx:integrator', secretKey: integratorKey, forClientId: service },
        shareToken({ ttlInSecs, ...user } = {}) {
          const { id: applicantId } = provider.addApplicant({ clientId: integrator, ...user })
          return provider.mintShareToken({ applicantId, forClientId: service, ttlInSecs })
        },
      }
    },
  }
}
