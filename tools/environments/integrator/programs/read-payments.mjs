/** The client against a service that runs on this machine. @module */
import { getVerdict } from './verdict.mjs'

export async function* readPayments({ client }, { service }) {
  const { createClient, createLegacyClient } = client
  const { url: baseUrl, integrationAddress, apiSecret, legacyApiKey } = service
  const reader = createClient({ baseUrl, integrationAddress, apiSecret }).payments
  const describe = ({ txHash, version, state, tokenOut }) => `${txHash} v${version} ${state} ${tokenOut.amountNet}`

  const judge = (fact, said, expected) => `${said === expected ? 'right' : 'WRONG'} ${fact}: ${said}`
  const getCode = async (fact, promise, expected) => judge(fact, (await getVerdict(promise)).verdict, expected)

  const first = await reader.list({ limit: 2 })
  const cursor = first.nextCursor === null ? 'the last' : 'more'
  yield judge('a page', `${first.payments.length}, ${cursor}`, '2, more')
  const iterated = []
  for await (const payment of reader.iterate({ pageSize: 1 })) iterated.push(payment)
  yield judge('a walk over every page', `${iterated.length}`, '3')
  yield* iterated.map(describe)
  const [newest] = iterated
  yield judge('one by its hash', describe(await reader.get(newest.txHash)), describe(newest))
  yield await getCode('one that there is not', reader.get(`0x${'9'.repeat(64)}`), 'ERR_PAYMENT_NOT_FOUND')
  yield await getCode('a cursor of nobody', reader.list({ cursor: 'x' }), 'ERR_REQUEST_INVALID')
  const wrongSecret = createClient({ baseUrl, integrationAddress, apiSecret: `${apiSecret}x` }).payments
  yield await getCode('a wrong secret', wrongSecret.list(), 'ERR_UNAUTHORIZED')
  yield await getCode('a call that was given up', reader.list({ signal: AbortSignal.abort() }), 'ERR_ABORTED')
  const offline = createClient({ baseUrl: 'http://127.0.0.1:9', integrationAddress, apiSecret, maxRetries: 0 }).payments
  yield await getCode('nobody there', offline.list(), 'ERR_NETWORK')
  const legacy = createLegacyClient({ baseUrl, apiKey: legacyApiKey })
  const { payments } = await legacy.lookup({ chainId: Number(newest.chainId), txHash: newest.txHash })
  yield judge('the legacy API', payments.map(({ memo }) => memo).join(), 'order-3')
}
