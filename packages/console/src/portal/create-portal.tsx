/** The portal: a fetch-standard app for integrators, below `/portal`. Source: docs/decisions/operators.md. @module */
import { InvalidParameterError } from '@payment-integration/core/internal'
import type { Clock } from '@payment-integration/core/ports'
import { type Context, Hono } from 'hono'
import { addAssetRoutes, createAssets } from '../assets.js'
import { deliveryFilter, FilterError, integrationPaymentFilter, parseQuery } from '../filters.js'
import { createRender } from '../view/layout.js'
import { sentencePage } from '../view/parts.js'
import { replayPath } from '../view/rows.js'
import { createDownloads, exportRoute } from '../web/export.js'
import { type ConsoleBindings, guardPages, pathBelow } from '../web/guard.js'
import { runForm } from '../web/run-form.js'
import { seeOther } from '../web/sessions.js'
import { deliveriesPage, deliveryActs, replayPage } from './deliveries.js'
import { endpointActs, endpointPage } from './endpoint.js'
import { createIntegrationScope, type PortalService } from './integration-scope.js'
import { overviewPage } from './overview.js'
import { findPortalNote, type PortalActs, type PortalLoad, portalBase, portalHref, portalSections } from './page.js'
import { paymentPage, paymentsPage } from './payments.js'
import { secretActs, secretsPage } from './secrets.js'
import { createPortalSignIn, findSocketSource, type PortalVisit } from './sign-in.js'

const pages: Readonly<Record<string, PortalLoad>> = {
  '': overviewPage,
  '/payments': paymentsPage,
  '/deliveries': deliveriesPage,
  [replayPath]: replayPage,
  '/endpoint': endpointPage,
  '/secrets': secretsPage,
}

const acts: PortalActs = { ...deliveryActs, ...endpointActs, ...secretActs }

/** Where integrations sign in, and by which network address failed sign-ins are counted. */
export interface PortalSignInOptions {
  /**
   * The origin of the pages, such as `https://pay.example`. Other hosts and origins are answered 403.
   * @default loopback addresses; only this machine is answered
   */
  readonly publicUrl?: string | undefined
  /**
   * The caller's network address, for the limits of failed sign-ins. Behind a proxy, return the forwarded address.
   * @default the peer of the connection; of an IPv6 address, its first 64 bits
   */
  readonly findSource?: ((request: Request, bindings: ConsoleBindings) => string) | undefined
}

/** Options of the portal. */
export interface PortalDeps {
  /** The service. The pages need no index of `store.console.prepare()`. */
  readonly service: PortalService
  /** Where integrations sign in. @default at loopback addresses; only this machine is answered */
  readonly signIn?: PortalSignInOptions | undefined
  /** The environment's name, shown next to the title. @default development */
  readonly environment?: string | undefined
  /**
   * Counts a request of an integration, sign-ins included but not assets. Returns the milliseconds to wait; unless 0,
   * the answer is 429.
   * @default no limit
   */
  readonly countCall?: ((integrationAddress: string) => number) | undefined
  /** The clock: milliseconds since the epoch. @default Date */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Called with each error whose details no page shows. @default none */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The portal as an app for a fetch-standard host. */
export interface Portal {
  /** Answers a request below `/portal`. */
  fetch(request: Request, bindings?: ConsoleBindings): Response | Promise<Response>
  /** Ends downloads at their next page, so that a process can stop. */
  close(): void
}

type Env = { Bindings: ConsoleBindings; Variables: { session: PortalVisit | null } }

/**
 * Creates the portal, where each integration sees and changes only its own rows. Works without the console. Never
 * throws: errors of requests are answered, and reach `onError`.
 * @example
 * import { createPortal } from '@payment-integration/console'
 * import { service } from './service.js'
 * const { fetch } = createPortal({ service, signIn: { publicUrl: 'https://pay.example' } })
 */
export function createPortal(deps: PortalDeps): Portal {
  const { service, clock = Date, environment = 'development' } = deps
  const { publicUrl, findSource = findSocketSource } = deps.signIn ?? {}
  const { countCall } = deps
  const app = new Hono<Env>()
  const assets = createAssets()
  const frame = { sections: portalSections, environment, brand: 'Payment portal', mountedAt: portalBase }
  const render = createRender(assets, frame)
  const signIn = createPortalSignIn({ sessions: service.integrationSessions, render, findSource, clock, countCall })
  const download = createDownloads({ clock, onError: (error) => deps.onError?.(error) })
  let isClosed = false
  guardPages(app, publicUrl)
  app.use('*', async (c, next) => {
    c.set('session', await signIn.findVisit(c.req.raw))
    return next()
  })
  addAssetRoutes(app, portalBase, assets)
  app.use('*', async (c, next) => {
    const session = c.get('session')
    const path = pathBelow(c.req.url, portalBase)
    // A sign-in counts once, and only with valid credentials.
    const waitMs = session === null || path === '/sign-in' ? 0 : (countCall?.(session.integrationAddress) ?? 0)
    if (waitMs > 0) return rejectTooMany(waitMs)
    const signInAnswer = signIn.answer(c.req.raw, path, c.env)
    if (signInAnswer !== null) return signInAnswer
    if (session !== null) return next()
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
    return isRead ? signIn.redirect(c.req.raw) : new Response('Sign in first.\n', { status: 401 })
  })
  app.post(`${portalBase}/act/:name`, (c) => {
    const { visit, tenant } = requireSession(c)
    const rejected = (status: number, title: string, text: string) => answer(c, status, title, text)
    return runForm({ acts, name: c.req.param('name'), request: c.req.raw, visit, rejected }, async (act, fields) => {
      const result = await act(tenant, fields)
      if ('show' in result) return render(result.show, { visit })
      return seeOther(portalHref(result.to, { note: result.note }))
    })
  })
  app.get(`${portalBase}/${exportRoute}`, (c) => {
    const { visit, tenant } = requireSession(c)
    return download({
      request: c.req.raw,
      file: c.req.param('file'),
      actor: visit.actor,
      exportRows: tenant.exportRows,
      lists: {
        payments: ({ integration: _, ...query }) => tenant.paymentListing(integrationPaymentFilter(query)),
        deliveries: (query) => tenant.deliveryListing(deliveryFilter(query)),
      },
      mayContinue: async () => !isClosed && (await signIn.findVisit(c.req.raw)) !== null,
    })
  })
  app.get(`${portalBase}/*`, (c) => showPage(c))
  app.get(portalBase, (c) => showPage(c))
  app.notFound((c) => answer(c, 404, 'Page not found', 'There is no page at this address.'))
  app.onError((error, c) => {
    if (error instanceof FilterError || error instanceof InvalidParameterError)
      return answer(c, 400, 'The request is not valid', error.message)
    deps.onError?.(error)
    return answer(c, 500, 'This page failed', 'Try again; the operators can read the reason in their log.')
  })
  return {
    fetch: (request, bindings = {}) => app.fetch(request, bindings),
    close() {
      isClosed = true
    },
  }

  async function showPage(c: Context<Env>): Promise<Response> {
    const url = new URL(c.req.url)
    const { visit, tenant } = requireSession(c)
    const origin = publicUrl === undefined ? url.origin : new URL(publicUrl).origin
    const path = pathBelow(c.req.url, portalBase)
    const [, payment = ''] = /^\/payments\/(.+)$/.exec(path) ?? []
    const load = Object.hasOwn(pages, path) ? pages[path] : payment === '' ? undefined : paymentPage
    const content = (await load?.({ tenant, clock, origin }, parseQuery(url), payment)) ?? null
    if (content === null) return c.notFound()
    if ('goTo' in content) return seeOther(portalHref(content.goTo))
    return render(content, { visit, status: content.status, note: findPortalNote(url.searchParams.get('note')) })
  }

  function answer(c: Context<Env>, status: number, title: string, text: string): Promise<Response> {
    const content = sentencePage(title, text, { home: portalBase })
    return render(content, { visit: c.get('session')?.visit ?? null, status })
  }

  function requireSession(c: Context<Env>) {
    const session = c.get('session')
    if (session === null) throw new Error('A request without a session was let through.')
    return { visit: session.visit, tenant: createIntegrationScope(service, session.integrationAddress) }
  }
}

function rejectTooMany(waitMs: number): Response {
  const headers = { 'Retry-After': String(Math.ceil(waitMs / 1_000)) }
  return new Response('Too many requests. Wait a moment, then reload the page.\n', { status: 429, headers })
}
