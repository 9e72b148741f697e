import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

/** Bytes of what a bundler makes of an import, minified and gzipped; `node:crypto` stays outside. */
async function gzipped(names: string, entry: string, platform: 'node' | 'browser'): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names} } from './exports/${entry}.js'`, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform,
    conditions: ['@payment-integration/source'],
    write: false,
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
}

test.each([
  ['signingKey, verifyBytes', 'core', 1060],
  ['verifySignature', 'index', 1740],
  ['createVerifier', 'index', 2900],
  ['isWebhookRejection', 'index', 256],
  ['createVerifier, isWebhookRejection, readBody', 'index', 3350],
])('importing { %s } from %s costs no more than %i bytes, for Node and for the web', async (names, entry, budget) => {
  for (const platform of ['node', 'browser'] as const) {
    const size = await gzipped(names, entry, platform)
    expect(size, platform).toBeLessThanOrEqual(budget)
    // Far below the budget something is missing from the bundle, or the budget is out of date.
    expect(size, platform).toBeGreaterThan(budget * 0.7)
  }
})
