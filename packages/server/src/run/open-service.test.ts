import { afterAll, expect, it } from 'vitest'
import { facts, indexPayments } from '../../test/support/index-payments.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { openService } from './open-service.js'

const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

/** Whether verify matches a payment of 12.5 DAI of which others than the service took 2.5 %, 1 % and nothing. */
async function verdicts(env: Record<string, string>) {
  const { config, remove } = await tempConfig(env)
  stops.push(remove)
  const { service, store, close } = await openService(config)
  stops.push(close)
  const { tokenOut, receiver } = facts()
  const taken = [250n, 100n, 0n].map((bps) => (tokenOut.gross * (20n + bps)) / 10_000n)
  const verified = taken.map(async (fees, index) => {
    const txHash = `0x${`${index + 1}`.repeat(64)}`
    await indexPayments(store, [facts({ txHash, tokenOut: { ...tokenOut, net: tokenOut.gross - fees } })])
    const invoice = { invoiceAmount: '12.5', invoiceCurrency: 'USD', address: receiver }
    return (await service.legacy.verify({ chainId: 1, txHash, ...invoice })).verified
  })
  return Promise.all(verified)
}

it.each([
  [{}, [false, true, true]],
  [{ PI_MAX_EXTRA_FEE_BPS: '250' }, [true, true, true]],
  [{ PI_MAX_EXTRA_FEE_BPS: '0' }, [false, false, true]],
])('a service that is opened with %j limits what others may take', async (env, expected) => {
  expect(await verdicts(env)).toEqual(expected)
})
