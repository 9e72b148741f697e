/**
 * Shares verifications through a provider over HTTP. Arguments: address of the database, schema, address of the
 * provider, milliseconds that the clock is ahead, and the kill point at which this process kills itself (0: none).
 * Each line of input is a task as JSON; each line of output has its answers, and the number of kill points so far.
 */
import { createInterface } from 'node:readline'
import { parseMasterKey, silentLogger, systemClock, systemIds, systemRandom } from '@payment-integration/core'
import type { Applicant, Review, Store } from '@payment-integration/core/ports'
import { createIdentity } from '../../../core/src/identity/identity.js'
import { createPostgresStore } from '../../src/exports/postgres.js'

export type ShareTask =
  /** Shares `times` times at once. `loses`: the provider's answers are lost, before or after the redemption. */
  | {
      readonly kind: 'share'
      readonly email: string
      readonly times: number
      readonly by?: string
      readonly loses?: 'before' | 'after'
    }
  | { readonly kind: 'webhook'; readonly externalUserId: string; readonly review: Review }
  /** Looks up and polls everything due. */
  | { readonly kind: 'poll' }

const [connectionString = '', schema = '', url = '', ahead = '0', diesAt = '0'] = process.argv.slice(2)
const masterKey = parseMasterKey('00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f')
const clock = { ...systemClock, now: () => Date.now() + Number(ahead) }
const store = createPostgresStore({ connectionString, schema, clock })
let passed = 0
function cross(): void {
  passed += 1
  if (passed === Number(diesAt)) process.kill(process.pid, 'SIGKILL')
}
/** A death before a step leaves the same rows as a death after the step before it, so kill points are ends of steps. */
async function crossed<T>(work: Promise<T>): Promise<T> {
  const value = await work
  cross()
  return value
}
const probed: Store = {
  ...store,
  // One kill point before the commit, and one after it.
  transaction: (work) => crossed(store.transaction((tx) => crossed(Promise.resolve(work(tx))))),
}
let loses: 'before' | 'after' | undefined
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
      const applicant = loses === 'before' ? null : ((await crossed(call(path))) as Applicant)
      return applicant === null || loses !== undefined
        ? { kind: 'unknown', reason: 'lost' }
        : { kind: 'redeemed', applicant }
    },
    async find(externalUserId) {
      if (loses !== undefined) return { kind: 'unavailable', reason: 'lost' }
      const value = (await crossed(call(`/find?${new URLSearchParams({ externalUserId })}`))) as Applicant | null
      return { kind: 'answer', value }
    },
    review: async () => ({ kind: 'unavailable', reason: 'not polled here' }),
  },
})
async function share({ email, times, by = `0x${'a1'.repeat(20)}` }: Extract<ShareTask, { kind: 'share' }>) {
  const shares = Array.from({ length: times }, (_, n) =>
    identity.share({ integrationAddress: by, email, shareToken: `${process.pid} ${email} ${n}` }),
  )
  return Promise.all(shares.map((each) => each.catch((error: { code: string }) => ({ code: error.code }))))
}
function webhook({ externalUserId, review }: Extract<ShareTask, { kind: 'webhook' }>) {
  const at = clock.now()
  const eventKey = `${externalUserId} ${JSON.stringify(review)}`
  return identity.applyVerdict({ eventKey, applicantId: `applicant of ${externalUserId}`, externalUserId, at, review })
}
for await (const line of createInterface(process.stdin)) {
  const task = JSON.parse(line) as ShareTask
  loses = task.kind === 'share' ? task.loses : undefined
  const answers =
    task.kind === 'share' ? await share(task) : task.kind === 'webhook' ? await webhook(task) : await identity.pollDue()
  process.stdout.write(`${JSON.stringify({ answers, passed })}\n`)
}
await store.close()
