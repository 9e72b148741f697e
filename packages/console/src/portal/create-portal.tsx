/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The portal: a fetch-standard app for integrators, below `/portal`. Source: docs/decisions/portal.md. @module */
import { BadRequestError } from '@payment-integration/core'
import { type Context, Hono } from 'hono'
import { addAssetRoutes, createAssets } from '../assets.js'
import { deliveryFilter, FilterError, type Given, givenOf, wholeOf } from '../filters.js'
import type { PageContent } from '../pages/page.js'
import { comparedOf } from '../pages/snapshots.js'
import { createRender, type Render } from '../view/layout.js'
import type { Visit } from '../viewer.js'
import { type ConsoleBindings, guardPages } from '../web/guard.js'
import { pathBelow } from '../web/paths.js'
import { FormError, type Rejected, runForm } from '../web/run-form.js'
import { seeOther } from '../web/sessions.js'
import { portalActs } from './acts.js'
import { EndpointPage } from './endpoint.js'
import { OwnDeliveriesPage, OwnPaymentsPage } from './lists.js'
import { OwnOverviewPage } from './overview.js'
import { portalBase, portalHref, portalNoteOf, portalSections, problemPage } from './page.js'
import { OwnPaymentPage } from './payment.js'
import { OwnSecretsPage } from './secrets.js'
import { createPortalSignIn, type PortalVisit, socketSource } from './sign-in.js'
import { type PortalService, type Tenant, tenantOf } from './tenant.js'

/** Where integrations sign in, and how failures are counted. */
export interface PortalSignInOptions {
  /**
   * The origin of the pages, such as `https://pay.example`. Other hosts and origins are answered 403.
   * @default a loopback address, for callers on this machine alone
   */
  readonly publicUrl?: string | undefined
  /**
   * The caller's network address, for the limits of failed sign-ins. Behind a proxy, pass the one that it forwards.
   * @default the other end of the connection; of IPv6 the first 64 bits
   */
  readonly sourceOf?: ((request: Request, bindings: ConsoleBindings) => string) | undefined
}

/** Options of the portal. */
export interface PortalDeps {
  /** The pages read no index of `store.console.prepare()`. */
  readonly service: PortalService
  readonly signIn?: PortalSignInOptions | undefined
  /** The word for where this service runs, beside the title. @default development */
  readonly environment?: string | undefined
  /**
   * Counts a request of an integration, its sign-ins included, and returns the milliseconds that it has to wait; 0:
   * none. Otherwise the answer is 429. Assets are not counted.
   * @default none is limited
   */
  readonly countCall?: ((integrationAddress: string) => number) | undefined
  /** The clock: milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Receives errors of requests; their pages tell no details. @default none */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** A portal. */
export interface Portal {
  /** Answers a request below `/portal`. */
  fetch(request: Request, bindings?: ConsoleBindings): Response | Promise<Response>
}

type Env = { Bindings: ConsoleBindings; Variables: { session: PortalVisit | null } }

/**
 * Builds the portal, where each integration sees and changes its own rows alone. It needs no console.
 * @example const { fetch } = createPortal({ service, signIn: { publicUrl: 'https://pay.example' } })
 */
export function createPortal(deps: PortalDeps): Portal {
  const { service, now = Date.now, environment = 'development' } = deps
  const { publicUrl, sourceOf = socketSource } = deps.signIn ?? {}
  const { countCall } = deps
  const app = new Hono<Env>()
  const assets = createAssets()
  const frame = { sections: portalSections, environment, brand: 'Payment portal', mountedAt: portalBase }
  const render = createRender(assets, frame)
  const signIn = createPortalSignIn({ sessions: service.integrationSessions, render, sourceOf, now, countCall })

  guardPages(app, publicUrl)
  app.use('*', async (c, next) => {
    c.set('session', await signIn.visitOf(c.req.raw))
    return next()
  })
  addAssetRoutes(app, portalBase, assets)
  app.use('*', async (c, next) => {
    const session = c.get('session')
    const path = pathBelow(c.req.url, portalBase)
    // A sign-in counts once, for the integration whose credentials are valid.
    const waitMs = session === null || path === '/sign-in' ? 0 : (countCall?.(session.integrationAddress) ?? 0)
    if (waitMs > 0) return tooMany(waitMs)
    const signedOut = signIn.answer(c.req.raw, path, c.env)
    if (signedOut !== null) return signedOut
    if (session !== null) return next()
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
    return isRead ? signIn.ask(c.req.raw) : new Response('Sign in first.\n', { status: 401 })
  })
  app.post(`${portalBase}/act/:name`, (c) => {
    const { visit, tenant } = signedIn(c)
    return runPortalAct(render, { name: c.req.param('name'), request: c.req.raw, visit, tenant })
  })
  app.get(`${portalBase}/*`, (c) => page(c))
  app.get(portalBase, (c) => page(c))
  app.notFound((c) => answer(c, problemPage('There is no such page', 'The address leads to nothing here.'), 404))
  app.onError((error, c) => {
    if (error instanceof FilterError || error instanceof BadRequestError)
      return answer(c, problemPage('The address is not readable', error.message), 400)
    if (error instanceof FormError) return answer(c, problemPage('Nothing was done', error.message), 400)
    deps.onError?.(error)
    return answer(c, problemPage('This page failed', 'Try again; the operators can read the reason in their log.'), 500)
  })
  return { fetch: (request, bindings = {}) => app.fetch(request, bindings) }

  async function page(c: Context<Env>): Promise<Response> {
    const url = new URL(c.req.url)
    const { visit, tenant } = signedIn(c)
    const origin = publicUrl === undefined ? url.origin : new URL(publicUrl).origin
    const content = await loadPortalPage(pathBelow(c.req.url, portalBase), url, { tenant, now, origin })
    if (content === null) return c.notFound()
    return render(content, { visit, note: portalNoteOf(url.searchParams.get('note')) })
  }

  function answer(c: Context<Env>, content: PageContent, status: number): Promise<Response> {
    return render(content, { visit: c.get('session')?.visit ?? null, status })
  }

  /** The session of a request that was let through. */
  function signedIn(c: Context<Env>) {
    const session = c.get('session')
    if (session === null) throw new Error('A request without a session was let through.')
    return { visit: session.visit, tenant: tenantOf(service, session.integrationAddress) }
  }
}

function tooMany(waitMs: number): Response {
  const headers = { 'Retry-After': String(Math.ceil(waitMs / 1_000)) }
  return new Response('Too many requests. Wait a moment, then reload the page.\n', { status: 429, headers })
}

/** Dependencies of pages. */
interface PortalPageDeps {
  readonly tenant: Tenant
  readonly now: () => number
  /** The address of the service for people, such as `https://pay.example`. */
  readonly origin: string
}

/** Newest rows on the overview. */
const mostNewest = 5

type Load = (deps: PortalPageDeps, given: Given) => Promise<PageContent>

const pages: Readonly<Record<string, Load>> = {
  '': overviewPage,
  '/payments': paymentsPage,
  '/deliveries': deliveriesPage,
  '/endpoint': async (deps) => ({
    title: 'Endpoint',
    section: '/endpoint',
    body: <EndpointPage {...(await endpointOf(deps))} />,
  }),
  '/secrets': async ({ tenant }) => ({
    title: 'Secrets',
    section: '/secrets',
    body: <OwnSecretsPage integration={await tenant.integration()} />,
  }),
}

/**
 * Reads a page; null: there is none at the path.
 * @throws FilterError, BadRequestError For a malformed filter.
 */
async function loadPortalPage(path: string, url: URL, deps: PortalPageDeps): Promise<PageContent | null> {
  const given = givenOf(url)
  const load = Object.hasOwn(pages, path) ? pages[path] : undefined
  if (load !== undefined) return load(deps, given)
  const named = /^\/payments\/(\d{1,15})\/(0x[0-9a-f]{64})$/i.exec(path)
  return named === null ? null : paymentPage(deps, given, Number(named[1]), (named[2] ?? '').toLowerCase())
}

async function endpointOf({ tenant, now }: PortalPageDeps) {
  const [integration, health, lastFailure] = await Promise.all([
    tenant.integration(),
    tenant.health(),
    tenant.lastFailure(),
  ])
  return { integration, health, lastFailure, now: now() }
}

const placeOf = ({ tenant, origin }: PortalPageDeps) => ({ origin, address: tenant.address })

async function overviewPage(deps: PortalPageDeps): Promise<PageContent> {
  const { tenant } = deps
  const [endpoint, { payments }, deliveries] = await Promise.all([
    endpointOf(deps),
    tenant.payments({ limit: String(mostNewest) }),
    tenant.deliveries({}),
  ])
  const newest = deliveries.rows.slice(0, mostNewest)
  const body = <OwnOverviewPage {...endpoint} payments={payments} deliveries={newest} place={placeOf(deps)} />
  return { title: 'Overview', section: '', body }
}

async function paymentsPage(deps: PortalPageDeps, { wallet, cursor }: Given): Promise<PageContent> {
  const page = await deps.tenant.payments({ wallet, cursor })
  const given = { ...(wallet === undefined ? {} : { wallet }), ...(cursor === undefined ? {} : { cursor }) }
  const body = <OwnPaymentsPage given={given} page={page} place={placeOf(deps)} />
  return { title: 'Payments', section: '/payments', body }
}

async function deliveriesPage({ tenant }: PortalPageDeps, all: Given): Promise<PageContent> {
  const known = ['hash', 'status', 'before']
  const { before, ...filter } = Object.fromEntries(Object.entries(all).filter(([name]) => known.includes(name)))
  const beforeId = before === undefined ? undefined : String(wholeOf('before', before))
  const page = await tenant.deliveries({ ...deliveryFilter(filter), beforeId })
  const given = { ...filter, ...(before === undefined ? {} : { before }) }
  return { title: 'Deliveries', section: '/deliveries', body: <OwnDeliveriesPage given={given} page={page} /> }
}

async function paymentPage(deps: PortalPageDeps, given: Given, chainId: number, txHash: string) {
  const compare = comparedOf(given)
  const found = await deps.tenant.payment(chainId, txHash, compare)
  if (found === null) return null
  const body = <OwnPaymentPage {...found} compare={compare} now={deps.now()} />
  return { title: `Payment ${txHash.slice(0, 10)}`, section: '/payments', body }
}

/** A form to run. */
interface PostedAct {
  readonly name: string
  readonly request: Request
  readonly visit: Visit
  readonly tenant: Tenant
}

/** Runs it. A form without its CSRF token is answered 403, and nothing is done. */
function runPortalAct(render: Render, { name, request, visit, tenant }: PostedAct): Promise<Response> {
  const rejected: Rejected = (status, title, text) => render(problemPage(title, text), { visit, status })
  return runForm({
    act: Object.hasOwn(portalActs, name) ? portalActs[name] : undefined,
    request,
    visit,
    rejected,
    async run(act, fields) {
      const answer = await act(tenant, fields)
      return 'show' in answer ? render(answer.show, { visit }) : seeOther(portalHref(answer.to, { note: answer.note }))
    },
  })
}
