/** The code needs no Node API. */
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { apiSecret, integrationAddress, page, payment } from './fixtures.js'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** Bundles for a neutral platform, where an import of a Node module fails. */
async function bundle(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    globalName: 'bundled',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@payment-integration/source', 'import'],
  })
  return outputFiles[0]?.text ?? ''
}

test('reads, reconciles and adds with only the globals of the web', async () => {
  const code = await bundle(
    "export { createClient, reconcile } from '@payment-integration/client'; export { addAmounts } from '@payment-integration/client/amounts'",
  )
  const { Request, Response, Headers, URL, URLSearchParams, AbortController, AbortSignal } = globalThis
  const { TextEncoder, TextDecoder, ReadableStream, FormData, DOMException, btoa } = globalThis
  const context = createContext({
    ...{ Request, Response, Headers, URL, URLSearchParams, AbortController, AbortSignal },
    ...{ TextEncoder, TextDecoder, ReadableStream, FormData, DOMException, btoa, setTimeout, clearTimeout },
  })
  type Exports = typeof import('../src/exports/index.js') & typeof import('../src/exports/amounts.js')
  const { createClient, reconcile, addAmounts } = runInContext(`${code};bundled`, context) as Exports
  const fetch = async () => Response.json(page([1, 2]))
  const client = createClient({ baseUrl: 'https://payments.example.com', integrationAddress, apiSecret, fetch })
  const versions = new Map<string, number>()
  const found = await reconcile(client, {
    from: {
      current: async ({ txHash }) => versions.get(txHash),
      async advance({ txHash, version }, effect) {
        await effect(undefined)
        versions.set(txHash, version)
        return 'apply'
      },
    },
    handle: () => undefined,
  })
  expect(found).toMatchObject({ repaired: 2, stopped: 'end' })
  expect(versions.get(payment(1).txHash)).toBe(2)
  expect(addAmounts(payment(1).tokenOut.amountNet, payment(1).tokenIn.amount)).toBe('26.87')
})
