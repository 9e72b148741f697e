import { createLegacyClient } from '@payment-integration/client'
import { verifyOrder } from './verify-order.js'

const { LEGACY_BASE_URL: baseUrl, LEGACY_API_KEY: apiKey } = process.env
const [chainId, txHash, amount, currency, receiver, memo] = process.argv.slice(2)
if (!baseUrl || !apiKey || !chainId || !txHash || !amount || !currency || !receiver || memo === undefined) {
  console.error(
    'Set LEGACY_BASE_URL and LEGACY_API_KEY, and pass: <chainId> <txHash> <amount> <currency> <receiver> <memo>',
  )
  process.exit(2)
}

const order = { chainId: Number(chainId), txHash, amount, currency, receiver, memo }
// After an error it is unknown whether the order is paid, so the exit code differs from that of an unpaid order.
const verdict = await (async () => verifyOrder(createLegacyClient({ baseUrl, apiKey }), order))().catch(
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  },
)
if (verdict.kind === 'paid')
  console.log(verdict.final ? 'paid, final' : 'paid, not final yet: ask again before you ship')
else if (verdict.kind === 'not_paid') console.log(`not paid: ${verdict.reasons.join(', ')}`)
else console.log('not in the system: too new, of another chain, or no payment')
// A script that ships on exit code 0 must not ship while a reorg may still remove the payment.
const exitCodeUnlessFinal = verdict.kind === 'paid' ? 3 : 1
process.exitCode = verdict.kind === 'paid' && verdict.final ? 0 : exitCodeUnlessFinal
