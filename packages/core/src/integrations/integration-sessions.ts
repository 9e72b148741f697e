/** Signs integrations in and out of the portal. Source: docs/decisions/operators.md. @module */
import type { Audited } from '../history/audit-log.js'
import { isExpired } from '../internal/values.js'
import { createCsrfTokens, hashToken, issueToken, isToken } from '../operators/operator-commands.js'
import { createSignInLimits, maxSessions, maxSourceLength, sessionMs } from '../operators/operator-sessions.js'
import { SignInLimitedError, SignInRejectedError } from '../operators/operator-store.js'
import { type AcceptedSecret, type CredentialCheckDeps, createCredentialCheck, parseBasic } from './authenticate.js'
import type { IntegrationRecord, IntegrationSessions, IntegrationStore, NewIntegrationSession } from './integration.js'

/** Stands for an unknown address in the audit log: the text may be a secret, typed into the wrong field. */
const unknownAddress = 'unknown address'

interface IntegrationSessionDeps extends CredentialCheckDeps {
  readonly integrations: Pick<IntegrationStore, 'credentials' | 'findSession'>
  readonly auditedAs: (actor: string) => Audited
}

export const integrationActor = (address: string): string => `integration:${address}`

export function createIntegrationSessions(deps: IntegrationSessionDeps): IntegrationSessions {
  const { integrations, auditedAs, keys, clock, random } = deps
  const limits = createSignInLimits(clock)
  const check = createCredentialCheck(deps)
  const findSession = async (sessionToken: string) =>
    isToken('portal', sessionToken) ? integrations.findSession(hashToken(sessionToken)) : null

  /** Opens a session. Null: the secret ended or the integration was disabled since the check. */
  async function openSession({ integrationAddress, hash: apiSecretHash }: AcceptedSecret, source: string) {
    const { token, hash } = issueToken('portal', random)
    const createdAt = clock.now()
    const expiresAt = createdAt + sessionMs
    return auditedAs(integrationActor(integrationAddress))(async (tx, note): Promise<NewIntegrationSession | null> => {
      const current = await tx.integrations.find(integrationAddress)
      if (current === null || !isValidFor(current, apiSecretHash, createdAt)) return null
      await tx.integrationSessions.deleteExpired(createdAt)
      await tx.integrationSessions.keepNewest(integrationAddress, maxSessions - 1)
      await tx.integrationSessions.insert({ hash, integrationAddress, apiSecretHash, createdAt, expiresAt })
      note({ action: 'integration.signed_in', subject: integrationAddress, details: { source } })
      return { integrationAddress, sessionToken: token, expiresAt }
    })
  }

  /** Records the first failure of a source, whether the address is known or not, so that both take the same time. */
  const recordFailure = (address: string, source: string) =>
    limits.reportOnce(source, () =>
      auditedAs('unauthenticated')(async (tx, note) => {
        const subject = (await tx.integrations.find(address))?.address ?? unknownAddress
        note({ action: 'integration.sign_in_failed', subject, details: { source } })
      }),
    )

  return {
    async signIn({ address: typedAddress, apiSecret, source: from, countCall }) {
      const source = from.slice(0, maxSourceLength)
      const header = `Basic ${Buffer.from(`${typedAddress.trim()}:${apiSecret.trim()}`).toString('base64')}`
      const { address } = parseBasic(header)
      // Addresses are public: a limit per address alone would let strangers lock its owner out.
      const pair = `${address} ${source}`
      const waitMs = limits.waitMs(pair, source)
      if (waitMs > 0) throw new SignInLimitedError(waitMs)
      const counted = limits.count(pair, source)
      try {
        const accepted = await check(header)
        const callWaitMs = (accepted && countCall?.(accepted.integrationAddress)) ?? 0
        if (callWaitMs > 0) throw new SignInLimitedError(callWaitMs)
        const opened = accepted && (await openSession(accepted, source))
        if (opened !== null) {
          counted.markSucceeded()
          return opened
        }
        await recordFailure(address, source)
      } catch (error) {
        counted.cancel()
        throw error
      }
      throw new SignInRejectedError('Address or API secret is wrong.')
    },
    async authenticate(sessionToken) {
      const stored = await findSession(sessionToken)
      if (stored === null || isExpired(stored.session.expiresAt, clock.now(), sessionMs)) return null
      const { integration, session } = stored
      return isValidFor(integration, session.apiSecretHash, clock.now())
        ? { integrationAddress: integration.address }
        : null
    },
    async signOut(sessionToken) {
      const stored = await findSession(sessionToken)
      if (stored === null) return
      const { hash } = stored.session
      const subject = stored.integration.address
      await auditedAs(integrationActor(subject))(async (tx, note) => {
        if ((await tx.integrationSessions.delete(hash)) !== null) note({ action: 'integration.signed_out', subject })
      })
    },
    ...createCsrfTokens(keys),
  }
}

/** Whether the API secret with this stored hash is valid now. */
function isValidFor({ enabled, apiSecret, previousApiSecret }: IntegrationRecord, hash: string, now: number): boolean {
  if (!enabled || apiSecret === null) return false
  return apiSecret.hash === hash || (previousApiSecret?.hash === hash && now < previousApiSecret.until)
}
