/** Starts the app that shares verifications as a process, and prepares its database. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createService, parseMasterKey, type Service, silentLogger } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { createUndiciSender } from '../../src/sender/undici-sender.js'
import { timingMasterKey } from './start-timing-server.js'

/** The service's own client at the provider. */
export const sharingClient = {
  clientId: 'Service',
  appToken: 'sbx:service',
  secretKey: 'secret-of-the-service',
  partners: ['Shop'],
}

/** The integrator's client at the provider. */
export const donorClient = {
  clientId: 'Shop',
  appToken: 'sbx:shop',
  secretKey: 'secret-of-the-shop',
  partners: ['Service'],
}

/** A process that serves. */
export interface SharingServer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts it. @param provider - The address of an identity provider, or `instant` for one that answers at once. */
export async function startSharingServer(database: string, provider: string): Promise<SharingServer> {
  const execArgv = ['--conditions=@payment-integration/source', '--import', 'tsx']
  const child = fork(fileURLToPath(new URL('./sharing-server.ts', import.meta.url)), [database, provider], { execArgv })
  const ended = once(child, 'exit')
  const gone = ended.then(([code]) => {
    throw new Error(`The server that shares ended with code ${code}.`)
  })
  gone.catch(() => undefined)
  const [url] = (await Promise.race([once(child, 'message'), gone])) as [string]
  return {
    url,
    async stop() {
      child.disconnect()
      await ended
    },
  }
}

/**
 * A service on the same database, in this process: it registers integrations and accounts. Its provider redeems only
 * the token `good`, which creates placeholders.
 */
export function besideSharing(store: Store): { readonly service: Service; stop(): Promise<void> } {
  const sender = createUndiciSender()
  const service = createService({
    store,
    sender,
    masterKey: parseMasterKey(timingMasterKey),
    logger: silentLogger,
    identity: {
      provider: {
        redeem: async ({ shareToken, externalUserId }) =>
          shareToken === 'good'
            ? { kind: 'redeemed', applicant: { applicantId: `of-${externalUserId}`, review: null } }
            : { kind: 'rejected', message: 'Token is invalid', providerCode: null },
        find: async () => ({ kind: 'answer', value: null }),
        review: async () => ({ kind: 'answer', value: null }),
      },
    },
  })
  return { service, stop: () => sender.close() }
}
