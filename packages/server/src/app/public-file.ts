/** Answers that are the same for everybody and may be kept, as long as they are asked about before each use. @module */
import { createHash } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { etag } from 'hono/etag'
import { allowMethods } from './allow-methods.js'
import type { AppEnv } from './app-env.js'

/** What is served. */
export interface PublicFile {
  readonly body: string | Uint8Array<ArrayBuffer>
  /** Value of `Content-Type`. */
  readonly type: string
  /** @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Serves a file at exactly one path, to anybody. It is made at the first request and kept; when that fails, the next request
 * tries again.
 */
export function addPublicFile(app: Hono<AppEnv>, path: string, make: () => Promise<PublicFile> | PublicFile): void {
  let made: Promise<PublicFile & { readonly tag: string }> | undefined
  async function makeOnce() {
    const file = await make()
    return { ...file, tag: `"${createHash('sha256').update(file.body).digest('base64url')}"` }
  }
  app.get(path, etag(), async (c) => {
    made ??= makeOnce()
    try {
      return answerFile(c, await made)
    } catch (error) {
      made = undefined
      throw error
    }
  })
  allowMethods(app, path, ['GET', 'HEAD'])
}

function answerFile(c: Context<AppEnv>, { body, type, headers, tag }: PublicFile & { readonly tag: string }): Response {
  return c.body(body, 200, {
    'Content-Type': type,
    'Cache-Control': 'no-cache',
    ETag: tag,
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
}
