/** Compares store and receivers with the script and with confirmations of the killed processes. @module */

import type { DeliveryView, Store, StoredPayment } from '@payment-integration/core/ports'
import { maxAttempts } from '../../packages/core/src/notifications/schedule.js'
import type { LoggedAttempt } from './database.js'
import { type Captured, isSigned } from './receiver.js'
import { chainId, type Script } from './script.js'

/** The data to compare. */
export interface CrashEvidence {
  readonly script: Script
  readonly store: Store
  readonly attempts: readonly LoggedAttempt[]
  readonly captured: readonly Captured[]
  /** Signing secrets by integration. */
  readonly secrets: ReadonlyMap<string, string>
  /** Confirmed by processes: indexes of updates, hashes of payments, `<hash> <version>` of deliveries. */
  readonly journal: {
    readonly accepted: ReadonlySet<number>
    readonly indexed: ReadonlySet<string>
    readonly delivered: ReadonlySet<string>
  }
  /**
   * Processes that exited or lost their database, and leases that expired during a POST. Each explains one POST without
   * a logged attempt.
   */
  readonly interruptions: number
}

/** Above the height of any script, and above its number of deliveries. */
const everything = 1_000_000

type Accuse = (kind: 'missing' | 'wrong' | 'repeated', words: string) => void

/** The flaws, as text; empty when all is right. */
export async function judgeCrash(evidence: CrashEvidence): Promise<string[]> {
  const flaws: string[] = []
  const accuse: Accuse = (kind, words) => flaws.push(`${kind}: ${words}`)
  const { store } = evidence
  const payments = await store.transaction((tx) => tx.paymentsInBlocks(chainId, 0, everything))
  const deliveries = await store.deliveries.list({ limit: everything })
  const snapshots = await readSnapshots(store, payments)
  judgePayments(evidence, payments, snapshots, accuse)
  await judgeUpdates(evidence, accuse)
  judgeDeliveries(evidence, deliveries, snapshots, accuse)
  judgeLog(evidence, deliveries, accuse)
  judgePosts(evidence, deliveries, snapshots, accuse)
  return flaws
}

const nameOf = (txHash: string, version: number) => `${txHash} ${version}`

/** Every stored snapshot, by name. Also looks for one version above the last. */
async function readSnapshots(store: Store, payments: readonly StoredPayment[]): Promise<Map<string, Buffer>> {
  const snapshots = new Map<string, Buffer>()
  for (const { id, txHash, version } of payments)
    for (let wanted = 1; wanted <= version + 1; wanted += 1) {
      const body = await store.payments.snapshot(id, wanted)
      if (body !== null) snapshots.set(nameOf(txHash, wanted), Buffer.from(body))
    }
  return snapshots
}

function judgePayments(
  { script, journal }: CrashEvidence,
  payments: readonly StoredPayment[],
  snapshots: ReadonlyMap<string, Buffer>,
  accuse: Accuse,
): void {
  const stored = new Map(payments.map((payment) => [payment.txHash, payment]))
  if (stored.size !== payments.length) accuse('repeated', 'a payment is stored twice')
  for (const txHash of journal.indexed) if (!stored.has(txHash)) accuse('missing', `${txHash} was confirmed as indexed`)
  for (const { txHash, integrationAddress, version, state } of script.expected) {
    const payment = stored.get(txHash)
    if (payment === undefined) accuse('missing', `payment ${txHash}`)
    else if (payment.version !== version || payment.state !== state)
      accuse('wrong', `${txHash} is version ${payment.version}, ${payment.state}; expected ${version}, ${state}`)
    for (let wanted = 1; wanted <= version + 1; wanted += 1) {
      const isDue = integrationAddress !== null && wanted <= version
      if (snapshots.has(nameOf(txHash, wanted)) !== isDue)
        accuse(isDue ? 'missing' : 'wrong', `snapshot ${wanted} of ${txHash}, which has ${version} versions`)
    }
  }
}

async function judgeUpdates({ script, store, journal }: CrashEvidence, accuse: Accuse): Promise<void> {
  for (const [index, { id }] of script.updates.entries()) {
    const stored = await store.transaction((tx) => tx.findUpdate(id))
    const wasAccepted = journal.accepted.has(index) ? ', which was confirmed' : ''
    if (stored === null) accuse('missing', `update ${id}${wasAccepted}`)
    else if (stored.outcome !== 'applied') accuse('wrong', `update ${id} is ${stored.outcome}: ${stored.reason}`)
  }
}

function judgeDeliveries(
  { script, journal }: CrashEvidence,
  deliveries: readonly DeliveryView[],
  snapshots: ReadonlyMap<string, Buffer>,
  accuse: Accuse,
): void {
  const found = new Map(deliveries.map((delivery) => [nameOf(delivery.txHash, delivery.version), delivery]))
  if (found.size !== deliveries.length) accuse('repeated', 'a snapshot has two deliveries')
  for (const name of snapshots.keys()) if (!found.has(name)) accuse('missing', `the delivery of ${name}`)
  for (const name of journal.delivered)
    if (found.get(name)?.status !== 'delivered') accuse('wrong', `${name} was confirmed as delivered`)
  const versions = new Map(script.expected.map(({ txHash, version }) => [txHash, version]))
  for (const [name, { txHash, version, status, attempts }] of found) {
    const isNewest = versions.get(txHash) === version
    const last = attempts.at(-1)
    const isHeard = last !== undefined && last.reason === null
    if (status === 'delivered' && !isHeard) accuse('wrong', `${name} counts as delivered and was not heard`)
    if (status === 'superseded' && (isNewest || last === undefined || isHeard))
      accuse('wrong', `${name} is superseded against the rule`)
    if (status !== 'delivered' && status !== 'superseded')
      accuse('wrong', `${name} is ${status} although all is healed`)
  }
}

/** Deliveries given up against the rule before any replay. */
export function unruly(exhausted: readonly DeliveryView[]): string[] {
  return exhausted
    .filter(({ attempts }) => attempts.at(-1)?.status !== 410 && attempts.length < maxAttempts)
    .map(
      ({ txHash, version, attempts }) => `wrong: ${txHash} ${version} was given up after ${attempts.length} attempts`,
    )
}

/** The attempt log has no gap, a right count, and only answers that a receiver gave. */
function judgeLog({ attempts, captured }: CrashEvidence, deliveries: readonly DeliveryView[], accuse: Accuse): void {
  const numbers = groupBy(attempts, ({ deliveryId }) => deliveryId)
  for (const [id, rows] of numbers)
    for (const [index, { number, attempted }] of rows.entries())
      if (number !== index + 1 || attempted !== rows.length)
        accuse(
          'wrong',
          `attempt ${number} of delivery ${id}, which counts ${attempted}, is row ${index + 1} of ${rows.length}`,
        )
  const answers = groupBy(captured, ({ body, status }) => `${snapshotName(body)} ${status}`)
  for (const { txHash, version, attempts: views } of deliveries) {
    const logged = groupBy(
      views.filter(({ status }) => status !== null),
      ({ status }) => `${nameOf(txHash, version)} ${status}`,
    )
    for (const [name, rows] of logged)
      if (rows.length > (answers.get(name)?.length ?? 0))
        accuse('wrong', `${name} is logged more often than it was answered`)
  }
}

/** Every POST is signed and has the stored bytes, and each payment's newest version was accepted. */
function judgePosts(
  { script, captured, secrets, interruptions }: CrashEvidence,
  deliveries: readonly DeliveryView[],
  snapshots: ReadonlyMap<string, Buffer>,
  accuse: Accuse,
): void {
  const posts = groupBy(captured, ({ body }) => snapshotName(body))
  const logged = new Map(deliveries.map(({ txHash, version, attempts }) => [nameOf(txHash, version), attempts.length]))
  for (const [name, copies] of posts) {
    const [first] = copies
    for (const post of copies) {
      if (!isSigned(post, secrets.get(post.integrationAddress) ?? '')) accuse('wrong', `the signature of ${name}`)
      if (first !== undefined && !post.body.equals(first.body)) accuse('wrong', `${name} was sent in two forms`)
    }
    if (first === undefined || snapshots.get(name)?.equals(first.body) !== true)
      accuse('wrong', `${name} was sent in a form that is not stored`)
    if (copies.length > (logged.get(name) ?? 0) + interruptions)
      accuse('repeated', `${name} was sent ${copies.length} times, logged ${logged.get(name)}`)
  }
  const newest = new Map<string, number>()
  for (const { body, taken } of captured) {
    const { txHash, version } = JSON.parse(body.toString('utf8')) as { txHash: string; version: number }
    if (taken && version > (newest.get(txHash) ?? 0)) newest.set(txHash, version)
  }
  for (const { txHash, integrationAddress, version } of script.expected)
    if (integrationAddress !== null && newest.get(txHash) !== version)
      accuse('missing', `the receiver holds version ${newest.get(txHash)} of ${txHash}, which is at ${version}`)
}

function snapshotName(body: Buffer): string {
  const { txHash, version } = JSON.parse(body.toString('utf8')) as { txHash: string; version: number }
  return nameOf(txHash, version)
}

function groupBy<T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of list) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
