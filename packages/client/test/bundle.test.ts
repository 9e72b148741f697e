/** What an application carries when it imports this package, and that the code asks for nothing that only Node has. */
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { apiSecret, integrationAddress, page, payment } from './fixtures.js'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** Bundles for no platform: an import of a module of Node fails. */
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

// Budgets in bytes, minified and gzipped. zod/mini and the schemas of the contract are 7 to 8 kB of a client, ky is 5 kB; full zod alone would be 25 kB and more.
test.each([
  ['createClient: read, share and reconcile', "export { createClient } from '@payment-integration/client'", 25_350],
  ['createLegacyClient', "export { createLegacyClient } from '@payment-integration/client'", 20_500],
  ['everything', "export * from '@payment-integration/client'", 28_200],
  ['the amounts alone', "export * from '@payment-integration/client/amounts'", 1_500],
  ['an error class alone', "export { NotFoundError } from '@payment-integration/client'", 560],
])('%s is within its budget', async (_name, code, budget) => {
  const size = gzipSync(await bundle(code), { level: 9 }).length
  expect(size).toBeLessThanOrEqual(budget)
  // A budget far above the size would not notice what is added.
  expect(size).toBeGreaterThan(budget * 0.85)
})

test('reads, reconciles and adds where there is no Node: with the globals of the web alone', async () => {
  const code = await bundle(
    "export { createClient } from '@payment-integration/client'; export { addAmounts } from '@payment-integration/client/amounts'",
  )
  const { Request, Response, Headers, URL, URLSearchParams, AbortController, AbortSignal, TextEncoder, TextDecoder } =
    globalThis
  const { ReadableStream, FormData, DOMException, btoa, setTimeout, clearTimeout } = globalThis
  const web = {
    Request,
    Response,
    Headers,
    URL,
    URLSearchParams,
    AbortController,
    AbortSignal,
    TextEncoder,
    TextDecoder,
  }
  const context = createContext({ ...web, ReadableStream, FormData, DOMException, btoa, setTimeout, clearTimeout })
  const { createClient, addAmounts } = runInContext(
    `${code};bundled`,
    context,
  ) as typeof import('../src/exports/index.js') & typeof import('../src/exports/amounts.js')
  const client = createClient({
    baseUrl: 'https://payments.example.com',
    integrationAddress,
    apiSecret,
    fetch: async () => Response.json(page([1, 2])),
  })
  const versions = new Map<string, number>()
  const found = await client.reconcile({
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
