import { expect, test } from 'vitest'
import { serveReplies } from '../../test/fixtures.js'
import { apiKey, lookup, txHash, verified } from '../../test/legacy-fixtures.js'
import { runReadme } from '../../test/run-readme.js'

const failed = verified({ verified: false, verificationErrors: ['Invalid payment amount', 'Invalid payment currency'] })

test.each([
  ['reports that the transaction was paid as invoiced', { body: verified() }, 'paid as invoiced'],
  [
    'says why it was not',
    { status: 409, body: failed },
    'not as invoiced: Invalid payment amount, Invalid payment currency',
  ],
])('the block of the guide about the legacy API %s', async (_case, reply, verdict) => {
  await using server = await serveReplies({ body: lookup() }, reply)
  const variables = { PAYMENTS_URL: server.url, LEGACY_API_KEY: apiKey, TX_HASH: txHash }
  expect(await runReadme('docs/guides/use-the-legacy-api.md', variables)).toBe(`order-7 1.1255 USDC\n${verdict}\n`)
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
})
