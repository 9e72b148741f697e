/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The console: a fetch-standard app of pages for operators, below `/console`. @module */
import type { Service } from '@payment-integration/core'
import { type Context, Hono } from 'hono'
import { accessProblem } from './access.js'
import { type Assets, loadAssets } from './assets.js'
import { FilterError, givenOf } from './filters.js'
import { createFeed } from './live/feed.js'
import { createSampler } from './live/sampler.js'
import { openStream } from './live/stream.js'
import { ChainRows } from './pages/chains.js'
import { Tiles } from './pages/overview.js'
import { ErrorPage } from './pages/records.js'
import { loadPage, type PageContent } from './pages.js'
import { Layout } from './view/layout.js'
import { base } from './view/parts.js'
import { DeliveryRow, PaymentRow } from './view/rows.js'
import { localViewer, type Viewer } from './viewer.js'

/** Options of the console. */
export interface ConsoleDeps {
  readonly service: Pick<Service, 'store' | 'indexers' | 'integrations'>
  /** A description of the configuration without secrets, such as that of `describeConfig`. @default none */
  readonly config?: object | undefined
  /** The person behind a request; null: 403. @default this machine, as admin */
  readonly viewerOf?: ((request: Request) => Promise<Viewer | null> | Viewer | null) | undefined
  /** The word for where this service runs, beside the title. @default development */
  readonly environment?: string | undefined
  /** The clock: milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined
  /** Receives errors of requests; their pages tell no details. @default none */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** What a host on Node passes as the second argument of `fetch`, to check where a connection comes from. */
export interface ConsoleBindings {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } | undefined
}

/** A console. */
export interface Console {
  /** Answers a request below `/console`. */
  fetch(request: Request, bindings?: ConsoleBindings): Response | Promise<Response>
  /** Ends the streams of all open pages. */
  close(): void
}

/** Most open pages that update by themselves. */
const mostStreams = 100

const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

type Env = { Bindings: ConsoleBindings; Variables: { viewer: Viewer } }

/**
 * Builds the console. It answers requests of this machine alone: Host must be a loopback name, and anything but GET and
 * HEAD must come from its own pages. Errors never show more than their kind.
 * @example const { fetch } = createConsole({ service })
 */
export function createConsole(deps: ConsoleDeps): Console {
  const { service, now = Date.now, environment = 'development', viewerOf = () => localViewer } = deps
  const app = new Hono<Env>()
  const sampler = createSampler(service, now, (error) => deps.onError?.(error))
  const feed = createFeed(sampler, renderers, now())
  const streams = new Set<() => void>()
  let assets: Promise<Assets> | null = null
  const loadedAssets = () => {
    assets ??= loadAssets()
    assets.catch(() => {
      assets = null
    })
    return assets
  }

  app.use('*', async (c, next) => {
    const peer = c.env?.incoming?.socket.remoteAddress
    const [host, origin] = [c.req.header('host') ?? new URL(c.req.url).host, c.req.header('origin') ?? null]
    const isForwarded = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host'].some((name) => c.req.header(name))
    const problem = accessProblem({ method: c.req.method, host, origin, peer, isForwarded })
    if (problem !== null) return new Response(`${problem}\n`, { status: 403, headers: securityHeaders })
    const viewer = await viewerOf(c.req.raw)
    if (viewer === null) return new Response('Sign in first.\n', { status: 403, headers: securityHeaders })
    c.set('viewer', viewer)
    await next()
    for (const [name, value] of Object.entries(securityHeaders))
      if (!(name === 'Cache-Control' && c.res.headers.has(name))) c.res.headers.set(name, value)
    return undefined
  })
  app.get(`${base}/live`, (c) => live(c))
  for (const [name, kind] of [
    ['console.js', 'script'],
    ['console.css', 'style'],
  ] as const)
    app.get(`${base}/${name}`, async (c) => {
      const { body, type, version } = (await loadedAssets())[kind]
      const isNamed = c.req.query('v') === version
      const cached = isNamed ? 'private, max-age=31536000, immutable' : 'no-cache'
      return new Response(body, { headers: { 'Content-Type': type, 'Cache-Control': cached } })
    })
  app.get(`${base}/*`, (c) => page(c))
  app.get(base, (c) => page(c))
  app.notFound((c) => answer(c, { title: 'Not found', section: '-', body: notFound }, 404))
  app.onError((error, c) => {
    if (error instanceof FilterError) return answer(c, failed('The address is not readable', error.message), 400)
    deps.onError?.(error)
    return answer(c, failed('This page failed', 'The log of the service has the reason.'), 500)
  })
  return {
    fetch: (request, bindings = {}) => app.fetch(request, bindings),
    close() {
      for (const end of streams) end()
      feed.close()
    },
  }

  async function page(c: Context<Env>): Promise<Response> {
    const url = new URL(c.req.url)
    const path = decodePath(url.pathname.slice(base.length).replace(/\/$/, ''))
    const position = await feed.position()
    const content = await loadPage(path, { ...deps, sampler, now, url })
    if (content === null) return c.notFound()
    const live = content.live === undefined ? undefined : `${content.live}&after=${position}`
    return answer(c, { ...content, live }, 200)
  }

  async function answer(c: Context<Env>, content: PageContent, status: 200 | 400 | 404 | 500): Promise<Response> {
    const { script, style } = await loadedAssets()
    const html = (
      <Layout
        title={content.title}
        section={content.section}
        live={content.live}
        viewer={c.get('viewer')}
        versions={{ script: script.version, style: style.version }}
        environment={environment}
      >
        {content.body}
      </Layout>
    )
    const text = `<!doctype html>${await html.toString()}`
    return new Response(text, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } })
  }

  function live(c: Context<Env>): Response {
    // It has no body to end the stream with.
    if (c.req.method === 'HEAD') return new Response(null)
    if (streams.size >= mostStreams) return new Response('Too many pages are open.\n', { status: 503 })
    const url = new URL(c.req.url)
    const after = c.req.header('last-event-id') ?? url.searchParams.get('after')
    let close = (): void => undefined
    const opened = openStream(feed, givenOf(url), after, () => streams.delete(close))
    close = opened.close
    streams.add(close)
    return new Response(opened.stream, {
      headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
    })
  }
}

const renderers = {
  payment: (payment: Parameters<typeof PaymentRow>[0]['payment']) => (<PaymentRow payment={payment} />).toString(),
  delivery: (delivery: Parameters<typeof DeliveryRow>[0]['delivery']) =>
    (<DeliveryRow delivery={delivery} />).toString(),
  parts: (overview: Parameters<typeof Tiles>[0]['overview']) => ({
    tiles: (<Tiles overview={overview} />).toString(),
    chains: (<ChainRows chains={overview.chains} />).toString(),
  }),
} as const

const notFound = <ErrorPage title="There is no such page" text="The address leads to nothing here." />
const failed = (title: string, text: string): PageContent => ({
  title,
  section: '-',
  body: <ErrorPage title={title} text={text} />,
})

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
