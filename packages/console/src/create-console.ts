/** The console: a fetch-standard app of pages for operators, below `/console`. @module */
import type { Clock } from '@payment-integration/core/ports'
import { type Context, Hono } from 'hono'
import { addAssetRoutes, createAssets } from './assets.js'
import { deliveryFilter, FilterError, parseQuery, paymentFilter } from './filters.js'
import { createJobs } from './jobs.js'
import { createLiveUpdates } from './live/live-updates.js'
import { createSampler } from './live/sampler.js'
import { isJobTopic, openJobStream, openStream } from './live/streams.js'
import { type ConsoleService, findNote, type Setting } from './pages/page.js'
import { loadPage, runAct } from './routes.js'
import { createSignIn, type SignInOptions } from './session/sign-in.js'
import { type ConsoleTools, hasTools } from './tools.js'
import { consoleSections, createRender } from './view/layout.js'
import { base, buildHref, sentencePage } from './view/parts.js'
import { createVisit, isAllowed, localViewer, type Viewer, type Visit } from './viewer.js'
import { createDownloads, exportRoute } from './web/export.js'
import { type ConsoleBindings, findStreamProblem, guardPages, pathBelow } from './web/guard.js'
import { seeOther } from './web/sessions.js'

/** Options of the console. */
export interface ConsoleDeps {
  /** The service whose payments the pages show and change. */
  readonly service: ConsoleService
  /** The configuration variables without secrets, such as the `settings` of `readConfig`. @default none */
  readonly settings?: readonly Setting[] | undefined
  /** How operators sign in, at one address. @default nobody signs in; only this machine is answered */
  readonly signIn?: SignInOptions | undefined
  /** Without `signIn`, finds the person behind a request; null: answer 403. @default this machine, as admin */
  readonly findViewer?: ((request: Request) => Promise<Viewer | null> | Viewer | null) | undefined
  /** With `findViewer`, the origin of the pages. @default the loopback addresses of this machine */
  readonly publicUrl?: string | undefined
  /** Tools of a server in development. @default none, and no page for tools */
  readonly tools?: ConsoleTools | undefined
  /** Milliseconds until an open page reconnects, which checks its session; at most an hour. @default 60_000 */
  readonly streamMs?: number | undefined
  /** The environment's name, shown next to the title. @default development */
  readonly environment?: string | undefined
  /** The clock: milliseconds since the epoch. @default Date */
  readonly clock?: Pick<Clock, 'now'> | undefined
  /** Called with each error whose details no page shows. @default none */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The console as an app for a fetch-standard host. */
export interface Console {
  /** Answers a request below `/console`. */
  fetch(request: Request, bindings?: ConsoleBindings): Response | Promise<Response>
  /** Ends the streams of all open pages, and stops all jobs. Later streams are answered 503. */
  close(): void
}

/** The most open live pages: of all viewers together, and of one viewer. */
const maxStreams = { all: 100, perViewer: 10 } as const
const maxStreamMs = 3_600_000

type Env = { Bindings: ConsoleBindings; Variables: { visit: Visit | null } }

/**
 * Creates the console. Without a public address it answers only this machine: Host must be a loopback name. Any method
 * other than GET and HEAD must come from the console's own pages. Pages show no details of an unknown error.
 * @throws TypeError When `publicUrl` is given without `findViewer`, or with `signIn`; RangeError for a bad `streamMs`.
 * @example
 * import { createConsole } from '@payment-integration/console'
 * import { service } from './service.js'
 * const { fetch } = createConsole({ service })
 */
export function createConsole(deps: ConsoleDeps): Console {
  const { service, clock = Date, environment = 'development', findViewer = () => localViewer, tools = {} } = deps
  const { streamMs = 60_000 } = deps
  if (!Number.isSafeInteger(streamMs) || streamMs < 1 || streamMs > maxStreamMs)
    throw new RangeError(`streamMs is ${streamMs}; pass whole milliseconds from 1 to ${maxStreamMs}.`)
  if (deps.publicUrl !== undefined && (deps.findViewer === undefined || deps.signIn !== undefined))
    throw new TypeError('Pass publicUrl only with findViewer, or everybody is an admin. signIn has its own publicUrl.')
  const publicUrl = deps.signIn?.publicUrl ?? deps.publicUrl
  const app = new Hono<Env>()
  const onError = (error: unknown) => deps.onError?.(error)
  const sampler = createSampler(service, clock, onError)
  const updates = createLiveUpdates(sampler, clock.now())
  const streams = new Map<() => void, string>()
  let isClosed = false
  const assets = createAssets()
  const sections = consoleSections({
    identity: service.identity !== null,
    operators: deps.signIn !== undefined,
    tools: hasTools(tools),
  })
  const render = createRender(assets, { sections, environment })
  const jobs = createJobs({ clock, onError })
  const download = createDownloads({ clock, onError })
  const sessions = service.operatorSessions
  const signIn = deps.signIn === undefined ? null : createSignIn({ ...deps.signIn, sessions, render, clock, onError })

  guardPages(app, publicUrl)
  app.use('*', async (c, next) => {
    c.set('visit', await findVisit(c.req.raw))
    return next()
  })
  addAssetRoutes(app, base, assets)
  app.use('*', async (c, next) => {
    const path = pathBelow(c.req.url, base)
    const signInAnswer = signIn?.answer(c.req.raw, path, c.env) ?? null
    if (signInAnswer !== null) return signInAnswer
    if (c.get('visit') !== null) return next()
    const isPage = signIn !== null && c.req.method === 'GET' && path !== '/live'
    if (isPage) return signIn.redirect(c.req.raw)
    return new Response('Sign in first.\n', { status: signIn === null ? 403 : 401 })
  })
  app.get(`${base}/live`, (c) => openLive(c))
  const actDeps = { service, render, clock, jobs, tools, hasOidc: deps.signIn?.oidc !== undefined, publicUrl }
  app.post(`${base}/act/:name`, (c) => runAct(actDeps, c.req.param('name'), c.req.raw, requireVisit(c)))
  app.get(`${base}/${exportRoute}`, (c) => exportList(c, c.req.param('file')))
  app.get(`${base}/*`, (c) => showPage(c))
  app.get(base, (c) => showPage(c))
  app.notFound((c) =>
    answer(c, 404, 'Page not found', 'There is no page at this address. Use the menu, or search for a payment.'),
  )
  app.onError((error, c) => {
    if (error instanceof FilterError) return answer(c, 400, 'The request is not valid', error.message)
    onError(error)
    return answer(c, 500, 'This page failed', 'The log of the service has the reason.')
  })
  return {
    fetch: (request, bindings = {}) => app.fetch(request, bindings),
    close() {
      isClosed = true
      for (const closeStream of [...streams.keys()]) closeStream()
      updates.close()
      jobs.close()
    },
  }

  async function findVisit(request: Request): Promise<Visit | null> {
    if (signIn !== null) return signIn.findVisit(request)
    const viewer = await findViewer(request)
    if (viewer === null) return null
    const actor = `console:${viewer.name}`
    return createVisit(sessions, { viewer, actor, secret: actor, canSignOut: false })
  }

  async function showPage(c: Context<Env>): Promise<Response> {
    const { href, pathname, search } = new URL(c.req.url)
    // A proxy may have changed the origin of the request.
    const url = new URL(`${pathname}${search}`, publicUrl ?? href)
    const path = pathBelow(c.req.url, base)
    const position = path.startsWith('/jobs') ? jobs.position() : await updates.position()
    const content = await loadPage(path, {
      ...deps,
      sampler,
      jobs,
      tools,
      clock,
      url,
      role: requireVisit(c).viewer.role,
    })
    if (content === null) return c.notFound()
    if ('goTo' in content) return seeOther(buildHref(content.goTo))
    const live = content.live === undefined ? undefined : `${content.live}&after=${position}`
    const note = findNote(url.searchParams.get('note'))
    return render({ ...content, live }, { visit: c.get('visit'), note, status: content.status })
  }

  function exportList(c: Context<Env>, file: string): Promise<Response> {
    const { viewer, actor } = requireVisit(c)
    const text = `An export needs the role operator; yours is ${viewer.role}.`
    if (!isAllowed(viewer.role, 'operator')) return answer(c, 403, 'Nothing was exported', text)
    return download({
      request: c.req.raw,
      file,
      actor,
      exportRows: service.actingAs(actor).exportRows,
      lists: {
        payments({ q, ...query }) {
          if (q !== undefined) throw new FilterError('A search is not exported. Clear it, and use the filters.')
          return service.queries.paymentListing(paymentFilter(query))
        },
        deliveries: (query) => service.queries.deliveryListing(deliveryFilter(query)),
      },
      async mayContinue() {
        const session = await findVisit(c.req.raw)
        return !isClosed && session !== null && isAllowed(session.viewer.role, 'operator')
      },
    })
  }

  function answer(c: Context<Env>, status: number, title: string, text: string): Promise<Response> {
    return render(sentencePage(title, text), { visit: c.get('visit') ?? null, status })
  }

  function openLive(c: Context<Env>): Response {
    const problem = findStreamProblem(c.req.raw)
    if (problem !== null) return new Response(`${problem}\n`, { status: 403 })
    // A response to HEAD has no body, so its stream would never end.
    if (c.req.method === 'HEAD') return new Response(null)
    if (isClosed) return new Response('The service is stopping.\n', { status: 503 })
    const { actor } = requireVisit(c)
    const openByViewer = [...streams.values()].filter((each) => each === actor).length
    if (streams.size >= maxStreams.all || openByViewer >= maxStreams.perViewer)
      return new Response('Too many pages are open.\n', { status: 503 })
    const query = parseQuery(new URL(c.req.url))
    const after = c.req.header('last-event-id') ?? query['after'] ?? null
    let close = (): void => undefined
    // A stream may end while it opens.
    let isOpen = true
    const onClose = () => {
      isOpen = false
      streams.delete(close)
    }
    const lifetime = { lifeMs: streamMs, onClose }
    const opened = isJobTopic(query)
      ? openJobStream(jobs, { id: query['id'], after }, lifetime)
      : openStream(updates, query, after, lifetime)
    close = opened.close
    if (isOpen) streams.set(close, actor)
    return new Response(opened.stream, { headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' } })
  }
}

function requireVisit(c: Context<Env>): Visit {
  const visit = c.get('visit')
  if (visit === null) throw new Error('A request without a viewer was let through.')
  return visit
}
