/** A portal on a twin of the service, and integrations that sign in to it. @module */
import { createTwin, type TwinIntegration } from '@payment-integration/testing/twin'
import { createPortal } from '../src/portal/create-portal.js'
import { BrowserLike } from './browser-like.js'

/** The origin of the pages. */
export const portalOrigin = 'https://pay.example'

/** A portal under test. */
export type PortalSetup = Awaited<ReturnType<typeof openPortal>>

/** Opens it. Each request has a source of its own, but where `x-source` is given. */
export async function openPortal(seed: number) {
  const twin = await createTwin({ seed })
  let sources = 0
  const findSource = (request: Request) => request.headers.get('x-source') ?? `192.0.2.${sources++}`
  const portal = createPortal({
    service: twin.service,
    clock: twin.clock,
    signIn: { publicUrl: portalOrigin, findSource },
    onError: (error) => {
      throw error
    },
  })
  /** A browser without a session. */
  const browser = () => new BrowserLike(portal, portalOrigin)
  return {
    twin,
    portal,
    browser,
    /** A browser that is signed in. */
    async signIn({ address, apiSecret }: Pick<TwinIntegration, 'address' | 'apiSecret'>, into = browser()) {
      const { status, text } = await into.post('/portal/sign-in', { address, secret: apiSecret })
      if (status !== 303) throw new Error(`The sign-in was answered ${status}: ${text.slice(0, 2_000)}`)
      return into
    },
    /** Actor, action and subject of the newest records, newest first. */
    async audit(limit: number) {
      const records = await twin.service.store.console.audit({ limit })
      return records.map(({ actor, action, subject }) => `${actor} ${action} ${subject}`)
    },
  }
}
