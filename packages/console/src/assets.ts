/** The script and style of the pages: read from the build, or bundled from source on first use. @module */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Env, Hono } from 'hono'

interface Asset {
  readonly body: string
  readonly type: string
  /** Hash of the content. Pages link to the file with this hash, so that a browser may cache the file for ever. */
  readonly version: string
}

export type Assets = Readonly<Record<'script' | 'style', Asset>>

export async function loadAssets(): Promise<Assets> {
  const folder = new URL('./assets/', import.meta.url)
  const read = (name: string) => readFile(new URL(name, folder), 'utf8')
  const { script, style }: Readonly<Record<keyof Assets, string>> = existsSync(folder)
    ? { script: await read('console.js'), style: await read('console.css') }
    : await (await import(new URL('../scripts/bundle-assets.mjs', import.meta.url).href)).bundleAssets()
  return { script: toAsset(script, 'text/javascript'), style: toAsset(style, 'text/css') }
}

function toAsset(body: string, type: string): Asset {
  const version = createHash('sha256').update(body).digest('base64url').slice(0, 16)
  return { body, type: `${type}; charset=utf-8`, version }
}

/** Reads or bundles both files once. After a failure, the next call tries again. */
export function createAssets(): () => Promise<Assets> {
  let assets: Promise<Assets> | null = null
  return () => {
    assets ??= loadAssets()
    assets.catch(() => {
      assets = null
    })
    return assets
  }
}

/** Serves both files below a path. A browser caches a file for ever when the URL names its version. */
export function addAssetRoutes<E extends Env>(app: Hono<E>, mountedAt: string, assets: () => Promise<Assets>): void {
  for (const kind of ['script', 'style'] as const)
    app.get(`${mountedAt}/console.${kind === 'script' ? 'js' : 'css'}`, async (c) => {
      const { body, type, version } = (await assets())[kind]
      const hasCurrentVersion = c.req.query('v') === version
      const cacheControl = hasCurrentVersion ? 'private, max-age=31536000, immutable' : 'no-cache'
      return new Response(body, { headers: { 'Content-Type': type, 'Cache-Control': cacheControl } })
    })
}
