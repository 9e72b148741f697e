/** Public files: the OpenAPI document and the page that documents the endpoints. @module */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { jsonContentType } from '@payment-integration/contract/internal'
import { createOpenApiDocument } from '@payment-integration/contract/openapi'
import type { Context, Hono } from 'hono'
import { cacheAnswer } from '../internal/cached-answer.js'
import { version } from '../version.js'
import { addEndpoint } from './answers.js'
import type { AppEnv } from './requests.js'

interface PublicFile {
  readonly body: string | Uint8Array<ArrayBuffer>
  /** Value of `Content-Type`. */
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
}

type LoadedFile = ReturnType<typeof loadFile>

/**
 * Above this size, in bytes, a file is always sent as gzip: uncompressed it would cost several times as much as a 401,
 * and every browser accepts gzip.
 */
const largeBytes = 128 * 1024

const cachedForever = 'public, max-age=31536000, immutable'
/** Cached, and revalidated before each use. */
const revalidated = 'no-cache'

/** The most characters of a header that are parsed; one header may have 8 KB. */
const maxParsedCharacters = 256

/** Prepares a file, which the first use builds and compresses; after a failure the next use tries again. */
function loadFile(make: () => Promise<PublicFile> | PublicFile) {
  async function load() {
    const { body, type, headers } = await make()
    const bytes = Buffer.from(body)
    const compressed = await promisify(gzip)(bytes, { level: 9 })
    const hash = createHash('sha256').update(bytes).digest('base64url')
    const common = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding', ...headers }
    const plain = { body: bytes, headers: { ...common, ETag: `"${hash}"` } }
    const gzipped = { body: compressed, headers: { ...common, ETag: `"${hash}-gzip"`, 'Content-Encoding': 'gzip' } }
    const packed = compressed.length < bytes.length ? gzipped : plain
    return { version: hash.slice(0, 16), packed, plain: bytes.length > largeBytes ? packed : plain }
  }
  const loadOnce = cacheAnswer(load, performance, Number.POSITIVE_INFINITY)
  return {
    /** Names the content: an answer to `?v=<version>` is cacheable for ever. */
    version: async () => (await loadOnce()).version,
    async answer(c: Context<AppEnv>): Promise<Response> {
      const { version, plain, packed } = await loadOnce()
      const { body, headers } = acceptsGzip(c.req.header('accept-encoding')) ? packed : plain
      const cacheControl = c.req.query('v') === version ? cachedForever : revalidated
      const { ETag, Vary } = headers
      if (matchesEntityTag(c.req.header('if-none-match'), ETag))
        return new Response(null, { status: 304, headers: { ETag, Vary, 'Cache-Control': cacheControl } })
      const answerHeaders = { ...headers, 'Cache-Control': cacheControl, 'Content-Length': String(body.length) }
      if (c.req.method === 'HEAD') return new Response(null, { headers: answerHeaders })
      return new Response(body, { headers: answerHeaders })
    },
  }
}

/** Whether `Accept-Encoding` names gzip with a weight above 0. Source: RFC 9110 section 12.5.3. */
export function acceptsGzip(header = ''): boolean {
  const words = header.slice(0, maxParsedCharacters).toLowerCase().split(',')
  return words.some((each) => {
    const [word = '', weight = ''] = each.split(';')
    return word.trim() === 'gzip' && !/^ *q=0(?:\.0{0,3})? *$/.test(weight)
  })
}

/** Whether `If-None-Match` lists a tag or `*`. A tag contains no quotes. Source: RFC 9110 section 13.1.2. */
export function matchesEntityTag(header = '', tag: string): boolean {
  return header === '*' || header.includes(tag)
}

const openApiPath = '/openapi.json'

/** Adds the document. It needs no authentication: it holds no data of any integration. */
export function addOpenApiRoute(app: Hono<AppEnv>): void {
  const make = () => ({ body: JSON.stringify(createOpenApiDocument({ version })), type: jsonContentType })
  addEndpoint(app, 'get', openApiPath, loadFile(make).answer)
}

const css = 'text/css; charset=utf-8'
const scriptFile = 'text/javascript; charset=utf-8'

/** Content type of each file of Swagger UI that is served. */
export const referenceFiles = {
  'swagger-ui.css': css,
  'swagger-ui-bundle.js': scriptFile,
  'swagger-ui-bundle.js.LICENSE.txt': 'text/plain; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const

export type ReferenceFile = keyof typeof referenceFiles

/** Reads a file without the comment that names its source map, which is not served. */
export async function readReferenceFile(
  name: ReferenceFile,
  folder = findReferenceFolder(),
): Promise<Buffer<ArrayBuffer>> {
  const bytes = await readFile(join(folder, name))
  if (name.endsWith('.png')) return bytes
  const text = bytes.toString('utf8')
  const comment = text.lastIndexOf('# sourceMappingURL=')
  // The comment begins two characters earlier.
  return comment === -1 ? bytes : Buffer.from(`${text.slice(0, comment - 2).trimEnd()}\n`)
}

/** The folder beside the built code that holds the copies; from source, the Swagger UI package itself. */
function findReferenceFolder(): string {
  const copies = fileURLToPath(new URL('./reference/', import.meta.url))
  if (existsSync(copies)) return copies
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
}

const referencePath = '/reference'

/** The page may load from this server and send requests to it, and nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Swagger UI's style sheet holds its icons.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The files that the page loads. */
const pageFiles = ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const

/**
 * URLs are relative to the page, so that a proxy may mount the app below any path.
 * @param urls - URL of each file, with the version of its content.
 */
const formatPage = (urls: Readonly<Record<(typeof pageFiles)[number], string>>) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Payment Integration Service: reference</title>
<link rel="icon" type="image/png" href="${urls['favicon-32x32.png']}">
<link rel="stylesheet" href="${urls['swagger-ui.css']}">
<link rel="stylesheet" href="${urls['page.css']}">
</head>
<body>
<noscript>This page needs JavaScript. The same content is in <a href=".${openApiPath}">openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="${urls['swagger-ui-bundle.js']}"></script>
<script src="${urls['page.js']}"></script>
</body>
</html>
`

const style = 'body { margin: 0; }\n*, ::before, ::after { box-sizing: border-box; }\n'

const script = `SwaggerUIBundle({
  url: '.${openApiPath}',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  // Takes no document URL from the query string, and no validation by another host.
  queryConfigEnabled: false,
  validatorUrl: null,
  // Sends only credentials typed into the page: the browser adds none and shows no prompt after a 401.
  requestInterceptor: (request) => Object.assign(request, { credentials: 'omit' }),
})
`

/** Paths that people type, each with a relative redirect to the page, which works below any path of a proxy. */
const redirects = { '/': `.${referencePath}`, [`${referencePath}/`]: `..${referencePath}` }

/**
 * Adds the page, the files that it loads and the redirects to it. They need no authentication: they hold no data. The
 * page names each file with the version of its content, so that a browser caches the file for ever.
 */
export function addReferencePage(app: Hono<AppEnv>): void {
  const swaggerFiles = Object.entries(referenceFiles).map(([name, type]) => [
    name,
    loadFile(async () => ({ body: await readReferenceFile(name as ReferenceFile), type })),
  ])
  const files: Readonly<Record<ReferenceFile | 'page.css' | 'page.js', LoadedFile>> = {
    ...Object.fromEntries(swaggerFiles),
    'page.css': loadFile(() => ({ body: style, type: referenceFiles['swagger-ui.css'] })),
    'page.js': loadFile(() => ({ body: script, type: referenceFiles['swagger-ui-bundle.js'] })),
  }
  async function makePage(): Promise<PublicFile> {
    const urls = pageFiles.map(async (name) => [name, `.${referencePath}/${name}?v=${await files[name].version()}`])
    const body = formatPage(Object.fromEntries(await Promise.all(urls)))
    const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' }
    return { body, type: 'text/html; charset=utf-8', headers }
  }
  addEndpoint(app, 'get', referencePath, loadFile(makePage).answer)
  for (const [name, file] of Object.entries(files)) addEndpoint(app, 'get', `${referencePath}/${name}`, file.answer)
  for (const [from, target] of Object.entries(redirects)) {
    const headers = { Location: target, 'Cache-Control': 'no-cache' }
    addEndpoint(app, 'get', from, () => new Response(null, { status: 308, headers }))
  }
}
