/** Creates databases with shared identity verifications, beside a local identity provider. @module */
import { normalizeEmail } from '@payment-integration/core/identity'
import type { VerificationChange } from '@payment-integration/core/internal'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { afterAll, beforeAll } from 'vitest'
import { onService } from './fill-deliveries.js'
import { getCommands } from './run-commands.js'
import { getEvents } from './test-io.js'

/** Two integrations. */
export const shop = `0x${'a1'.repeat(20)}`
export const otherShop = `0x${'b2'.repeat(20)}`

const donor = { clientId: 'Shop', appToken: 'sbx:shop', secretKey: 'secret-of-the-shop', partners: ['Service'] }
const serviceSecret = 'secret-of-the-service'
const service = { clientId: 'Service', appToken: 'sbx:service', secretKey: serviceSecret, partners: ['Shop'] }

/** Starts the provider for the tests of a file. */
export function identityCommands() {
  let provider: Awaited<ReturnType<typeof startIdentityProvider>>
  let variables: Record<string, string> = {}
  beforeAll(async () => {
    provider = await startIdentityProvider({ clients: [donor, service] })
    variables = {
      PI_ENV: 'development',
      PI_IDENTITY_URL: provider.url,
      PI_IDENTITY_LEVEL: 'basic-kyc-level',
      PI_IDENTITY_APP_TOKEN: service.appToken,
      PI_IDENTITY_SECRET_KEY: service.secretKey,
      PI_IDENTITY_WEBHOOK_SECRETS: 'secret-of-the-webhook',
    }
  })
  afterAll(() => provider?.close())

  function mint(): string {
    const { id: applicantId } = provider.addApplicant({ clientId: 'Shop' })
    return provider.mintShareToken({ applicantId, forClientId: 'Service' })
  }
  return {
    provider: () => provider,
    mint,
    /** The commands on a database in which the shop shared these addresses, in their order. */
    async shared(...emails: readonly string[]) {
      const commands = getCommands('identity', variables)
      await commands.make()
      await onService(commands.env, async ({ identity }) => {
        for (const each of emails) {
          const email = normalizeEmail(each) ?? ''
          await identity?.share({ integrationAddress: shop, email, shareToken: mint() })
        }
      })
      return commands
    },
  }
}

/** The events of a list with `--json`. */
export async function listed({ run }: Pick<ReturnType<typeof getCommands>, 'run'>, ...args: string[]) {
  return getEvents((await run(...args, '--json')).io)
}

/** The audit records about identities. */
export async function getAudit(env: Record<string, string>) {
  const events = await listed(getCommands('audit', env), 'list')
  const records = events.map(({ record }) => record as { readonly action: string })
  return records.filter(({ action }) => action.startsWith('identity.'))
}

/** Changes the verification of a subject. */
export const changeVerification = (env: Record<string, string>, subjectId: string, change: VerificationChange) =>
  onService(env, ({ store }) =>
    store.transaction(async (tx) => {
      await tx.identity.lockPersons({ subjectId })
      await tx.identity.changeVerification(subjectId, change)
    }),
  )

/** Adds redemption number 9, which is like the newest one except for `fields`, and then changes it. */
export const addRedemption = (
  env: Record<string, string>,
  fields: { readonly externalUserId: string; readonly subjectId?: string; readonly isFindable?: boolean },
  change: { readonly state: 'attached' | 'unresolved'; readonly applicantId?: string },
) =>
  onService(env, async ({ store }) => {
    const [newest] = await store.identity.redemptions({ limit: 1 })
    if (newest === undefined) throw new Error('There is no redemption.')
    const { isLeased, state, applicantId, ...same } = newest
    await store.transaction(async (tx) => {
      await tx.identity.lockPersons({ subjectId: fields.subjectId ?? newest.subjectId })
      await tx.identity.addRedemption({ ...same, ...fields, number: 9, leaseMs: 0 })
      await tx.identity.changeRedemption(fields.externalUserId, change)
    })
  })
