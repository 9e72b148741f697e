import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serveReplies } from '../../test/fixtures.js'
import { apiKey, lookup, txHash, verified } from '../../test/legacy-fixtures.js'

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [, code = ''] = /## The legacy API\n\n```ts\n(.*?)```/s.exec(readme) ?? []

/** Runs the block as a program, and returns what it printed. */
async function run(url: string): Promise<string> {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const env = { ...process.env, PAYMENTS_URL: url, LEGACY_API_KEY: apiKey, TX_HASH: txHash }
  return (await promisify(execFile)(process.execPath, flags, { cwd: packageFolder, env })).stdout
}

const failed = verified({ verified: false, verificationErrors: ['Invalid payment amount', 'Invalid payment currency'] })

test.each([
  ['says that the transaction was paid as invoiced', { body: verified() }, 'paid as invoiced'],
  [
    'says why it was not',
    { status: 409, body: failed },
    'not as invoiced: Invalid payment amount, Invalid payment currency',
  ],
])(
  'the legacy block of the README %s',
  async (_case, reply, verdict) => {
    expect(code).not.toBe('')
    await using server = await serveReplies({ body: lookup() }, reply)
    expect(await run(server.url)).toBe(`order-7 1.1255 USDC\n${verdict}\n`)
    expect(server.asked.map(({ method }) => method)).toEqual(['GET', 'POST'])
  },
  60_000,
)
