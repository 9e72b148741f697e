/** docs/interface.md 4.2: a stolen database reveals no e-mail address, share token or code, in any form. */
import { randomBytes } from 'node:crypto'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { describe, expect, it, onTestFinished } from 'vitest'
import { verdictPath } from '../src/app/webhook-routes.js'
import { type Canary, leaks, type Sink } from './support/canaries.js'
import { captureLog } from './support/captured-log.js'
import { engines } from './support/database-rows.js'
import { basic } from './support/integration-service.js'
import { donor, mintToken, recipient, sharingVariables, webhookSecret } from './support/sharing-service.js'
import { startTempServer } from './support/temp-server.js'

describe.each(engines)('on %s', (_, missing, open) => {
  it.skipIf(missing !== null)(
    'a dump after shares, rejections, proofs and verdicts holds none of the canaries',
    async () => {
      const provider = await startIdentityProvider({ clients: [donor, recipient] })
      onTestFinished(() => provider.close())
      const stored = await open()
      onTestFinished(stored.remove)
      const { logger, lines: log } = await captureLog()
      const env = { PI_DATABASE_URL: stored.url, PI_MIGRATE: 'on', ...sharingVariables(provider) }
      const server = await startTempServer(env, { logger })
      provider.setWebhooks('Service', [{ url: `${server.url}${verdictPath}`, secretKey: webhookSecret }])
      const { integrations, identity } = server.service
      if (identity === null) throw new Error('Sharing is off.')
      const shops = await Promise.all(
        ['a1', 'b2'].map(async (byte) => {
          const address = `0x${byte.repeat(20)}`
          return basic(address, (await integrations.create({ address })).apiSecret)
        }),
      )

      const canaries: Canary[] = []
      const canary = (name: string, value: string) => {
        canaries.push({ name, kind: 'secret', value })
        return value
      }
      const newEmail = (name: string) => {
        const local = canary(`the local part of ${name}`, `canary${randomBytes(8).toString('hex')}`)
        return `${local}@${canary(`the domain of ${name}`, `canary${randomBytes(8).toString('hex')}.example`)}`
      }
      const mint = () => canary(`token ${canaries.length}`, mintToken(provider))
      const share = async (email: string, kycShareToken: string, by = 0) => {
        const response = await fetch(`${server.url}/api/v1/integration/idv-share-token`, {
          method: 'POST',
          headers: { authorization: shops[by] ?? '', 'content-type': 'application/json' },
          body: JSON.stringify({ email, kycShareToken }),
        })
        return response.status
      }

      const [shared, rejected] = [newEmail('shared'), newEmail('rejected')]
      const [lost, proved] = [newEmail('lost'), newEmail('proved')]
      const used = mint()
      expect(await share(shared, used)).toBe(200)
      expect(await share(shared, mint(), 1)).toBe(409)
      expect(await share(rejected, used)).toBe(422)
      const invented = canary('a token that is none', `canary-${randomBytes(16).toString('hex')}`)
      expect(await share(rejected, invented)).toBe(422)
      provider.fail({ on: 'reuse', at: 'after', answer: 'lost' })
      provider.fail({ on: 'find', at: 'before', answer: 500, times: 5 })
      expect(await share(lost, mint())).toBe(503)
      provider.clearFaults()
      provider.fail({ on: 'reuse', at: 'before', answer: 401 })
      expect(await share(proved, mint())).toBe(502)
      expect(await share(proved, mint())).toBe(200)
      provider.approve(provider.redemptions[0]?.applicantId ?? '')
      await provider.deliverWebhooks()
      const accounts = await identity.accounts()
      const { accountId } = await accounts.register(proved)
      const { code } = await accounts.requestCode(proved)
      await accounts.proveByCode(proved, 'wrong').catch(() => undefined)
      await accounts.proveByCode(proved, canary('a code that was used', code), { accountId })
      canary('a code that is out', (await accounts.requestCode(shared)).code)

      const whileOpen = stored.files()
      await server.stop()
      const values = await stored.values()
      const sinks: Sink[] = [
        ...values.map(({ column, text }) => ({ where: column, text })),
        ...whileOpen,
        ...stored.files(),
        ...log.map((text) => ({ where: 'the log', text })),
      ]
      // The expected rows exist, with the pseudonyms of the addresses.
      const emailKey = await identity.emailKey(shared).catch(() => '')
      const columns = new Set(values.map(({ column }) => column))
      const sealed = ['identity_subjects.email_sealed', 'email_codes.hash']
      for (const column of [...sealed, 'identity_shares.outcome', 'account_events.action'])
        expect(columns).toContain(column)
      if (emailKey !== '') expect(values.map(({ text }) => text)).toContain(emailKey)
      expect(canaries.length).toBeGreaterThan(14)
      expect(leaks(sinks, canaries)).toEqual([])
    },
  )
})
