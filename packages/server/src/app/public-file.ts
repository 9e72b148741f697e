/** Serves files that are public and cacheable. @module */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context, Hono } from 'hono'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'

/** The file's content and headers. */
export interface PublicFile {
  readonly body: string | Uint8Array<ArrayBuffer>
  /** Value of `Content-Type`. */
  readonly type: string
  /** @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A file that is built at the first use and cached. */
export interface LoadedFile {
  /** Names the content: an answer to `?v=<version>` is cacheable for ever. */
  version(): Promise<string>
  answer(c: Context<AppEnv>): Promise<Response>
}

/** One encoding of a file. */
interface Form {
  readonly body: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Above this size, in bytes, a file is always sent as gzip: uncompressed it costs several times a 401, and every
 * browser accepts gzip.
 */
const largeBytes = 128 * 1024

const cachedForever = 'public, max-age=31536000, immutable'
/** Cached, and revalidated before each use. */
const revalidated = 'no-cache'

/** Most header characters that are parsed; one header may have 8 KB. */
const readCharacters = 256

/** Prepares a file. The first use builds and compresses it; after a failure the next use tries again. */
export function loadFile(make: () => Promise<PublicFile> | PublicFile): LoadedFile {
  let loading: ReturnType<typeof load> | undefined
  async function load() {
    const { body, type, headers } = await make()
    const bytes = Buffer.from(body)
    const small = await promisify(gzip)(bytes, { level: 9 })
    const hash = createHash('sha256').update(bytes).digest('base64url')
    const all = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding', ...headers }
    const plain: Form = { body: bytes, headers: { ...all, ETag: `"${hash}"` } }
    const gzipped: Form = { body: small, headers: { ...all, ETag: `"${hash}-gzip"`, 'Content-Encoding': 'gzip' } }
    const packed = small.length < bytes.length ? gzipped : plain
    return { version: hash.slice(0, 16), packed, plain: bytes.length > largeBytes ? packed : plain }
  }
  async function loaded() {
    loading ??= load()
    try {
      return await loading
    } catch (error) {
      loading = undefined
      throw error
    }
  }
  return {
    version: async () => (await loaded()).version,
    async answer(c) {
      const { version, plain, packed } = await loaded()
      const { body, headers } = takesGzip(c.req.header('accept-encoding')) ? packed : plain
      const cacheControl = c.req.query('v') === version ? cachedForever : revalidated
      const { ETag = '', Vary = '' } = headers
      if (isKnown(c.req.header('if-none-match'), ETag))
        return new Response(null, { status: 304, headers: { ETag, Vary, 'Cache-Control': cacheControl } })
      const answered = { ...headers, 'Cache-Control': cacheControl, 'Content-Length': String(body.length) }
      if (c.req.method === 'HEAD') return new Response(null, { headers: answered })
      return new Response(body, { headers: answered })
    },
  }
}

/** Serves a public file at exactly one path. */
export function addPublicFile(app: Hono<AppEnv>, path: string, file: LoadedFile): void {
  app.get(path, (c) => file.answer(c))
  allowMethods(app, path, ['GET', 'HEAD'])
}

/** Whether `Accept-Encoding` names gzip with a weight above 0. Source: RFC 9110 section 12.5.3. */
export function takesGzip(header = ''): boolean {
  const words = header.slice(0, readCharacters).toLowerCase().split(',')
  return words.some((each) => {
    const [word = '', weight = ''] = each.split(';')
    return word.trim() === 'gzip' && !/^ *q=0(?:\.0{0,3})? *$/.test(weight)
  })
}

/** Whether `If-None-Match` lists a tag or `*`. A tag contains no quotes. Source: RFC 9110 section 13.1.2. */
export function isKnown(header = '', tag: string): boolean {
  return header === '*' || header.includes(tag)
}
