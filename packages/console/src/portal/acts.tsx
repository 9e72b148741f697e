/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The acts of the portal, by their names in the address. Each changes the signed-in integration alone. @module */

import type { PageContent } from '../pages/page.js'
import { confirmedField, graceField } from '../pages/page.js'
import { paymentPath } from '../view/parts.js'
import { TestAnswer } from './endpoint.js'
import type { PortalNote } from './page.js'
import { NewApiSecret, NewSigningSecret } from './secrets.js'
import type { Tenant } from './tenant.js'

/** The fields of a posted form; those that are missing or empty are absent. */
export type Fields = Readonly<Record<string, string>>

/** A path below the base to go to, with what is said there; or a page that is shown once. */
export type PortalAnswer = { readonly to: string; readonly note: PortalNote } | { readonly show: PageContent }

/** An act. */
export type PortalAct = (tenant: Tenant, fields: Fields) => Promise<PortalAnswer>

/** All acts. */
export const portalActs: Readonly<Record<string, PortalAct>> = {
  async replay(tenant, { id = '' }) {
    const delivery = await tenant.replay(id)
    return { to: paymentPath(delivery), note: 'replayed' }
  },
  async test(tenant) {
    const sent = await tenant.sendTest()
    return { show: { title: 'Test delivery', section: '/endpoint', body: <TestAnswer sent={sent} /> } }
  },
  async url(tenant, { url }) {
    await tenant.setNotificationUrl(url ?? null)
    return { to: '/endpoint', note: url === undefined ? 'url-removed' : 'url-set' }
  },
  async 'rotate-api-secret'(tenant, fields) {
    const apiSecret = await tenant.rotateApiSecret(graceField(fields))
    const body = <NewApiSecret address={tenant.address} apiSecret={apiSecret} />
    return { show: { title: 'New API secret', section: '/secrets', body } }
  },
  async 'end-api-secret'(tenant, fields) {
    confirmedField(fields)
    await tenant.endPreviousApiSecret()
    return { to: '/secrets', note: 'api-ended' }
  },
  async 'prepare-signing-secret'(tenant) {
    const signingSecret = await tenant.prepareSigningSecret()
    const body = <NewSigningSecret signingSecret={signingSecret} />
    return { show: { title: 'New signing secret', section: '/secrets', body } }
  },
  async 'activate-signing-secret'(tenant, fields) {
    await tenant.activateSigningSecret(graceField(fields))
    return { to: '/secrets', note: 'signing-active' }
  },
  async 'abort-signing-secret'(tenant) {
    await tenant.abortSigningSecret()
    return { to: '/secrets', note: 'signing-aborted' }
  },
  async 'end-signing-secret'(tenant, fields) {
    confirmedField(fields)
    await tenant.endPreviousSigningSecret()
    return { to: '/secrets', note: 'signing-ended' }
  },
}
