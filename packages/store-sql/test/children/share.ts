/**
 * Shares verifications through a provider over HTTP. Arguments: address of the database, schema, address of the provider, what the store's clock is ahead in ms,
 * and the await point at which this process kills itself, 0 for none. Each line of input names an address and how often it is shared at once; the line printed
 * holds the answers, and the points that were passed.
 */
import { createInterface } from 'node:readline'
import {
  createIdentity,
  parseMasterKey,
  silentLogger,
  systemClock,
  systemIds,
  systemRandom,
} from '@payment-integration/core'
import type { Applicant, Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '../../src/exports/index.js'

const [connectionString = '', schema = '', url = '', ahead = '0', diesAt = '0'] = process.argv.slice(2)
const masterKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const clock = { ...systemClock, now: () => Date.now() + Number(ahead) }
const store = createPostgresStore({ connectionString, schema, clock })
let passed = 0
function cross(): void {
  passed += 1
  if (passed === Number(diesAt)) process.kill(process.pid, 'SIGKILL')
}
async function crossed<T>(work: Promise<T>): Promise<T> {
  cross()
  const value = await work
  cross()
  return value
}
const probed: Store = {
  ...store,
  transaction: (work) =>
    crossed(
      store.transaction(async (tx) => {
        cross()
        const value = await work(tx)
        cross()
        return value
      }),
    ),
  identityAccounts: { ...store.identityAccounts, resolve: (email) => crossed(store.identityAccounts.resolve(email)) },
}
const call = async (path: string) => (await fetch(`${url}${path}`, { method: 'POST' })).json()
const identity = createIdentity({
  store: probed,
  masterKey,
  clock,
  ids: systemIds,
  random: systemRandom,
  logger: silentLogger,
  provider: {
    async redeem({ shareToken, externalUserId }) {
      const path = `/redeem?${new URLSearchParams({ shareToken, externalUserId })}`
      return { kind: 'redeemed', applicant: (await crossed(call(path))) as Applicant }
    },
    async find(externalUserId) {
      const value = (await crossed(call(`/find?${new URLSearchParams({ externalUserId })}`))) as Applicant | null
      return { kind: 'answer', value }
    },
    review: async () => ({ kind: 'unavailable', reason: 'not asked here' }),
  },
})
for await (const line of createInterface(process.stdin)) {
  const [email = '', times = '1'] = line.split(' ')
  const answers = await Promise.all(
    Array.from({ length: Number(times) }, (_, n) =>
      identity.share({
        integrationAddress: `0x${'a1'.repeat(20)}`,
        email,
        shareToken: `${process.pid} ${email} ${n}`,
      }),
    ),
  )
  process.stdout.write(`${JSON.stringify({ answers, passed })}\n`)
}
await store.close()
