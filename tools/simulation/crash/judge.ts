/** Compares store and receivers with the script and with the confirmations of the processes. @module */
import type { DeliveryView } from '@payment-integration/core/internal'
import type { Store, StoredPayment } from '@payment-integration/core/ports'
import { maxAttempts } from '../../../packages/core/src/notifications/retry-schedule.js'
import type { LoggedAttempt } from './database.js'
import { type Captured, isSigned } from './receiver.js'
import { chainId, type Script } from './script.js'

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
   * The number of processes that exited or lost their database, plus the leases that expired during a POST. Each
   * explains one POST without a logged attempt.
   */
  readonly interruptions: number
}

/** A height and a limit that no script reaches. */
const everything = 1_000_000

type Report = (kind: 'missing' | 'wrong' | 'repeated', message: string) => void

/** The flaws, as text; empty when there are none. */
export async function judgeCrash(evidence: CrashEvidence): Promise<string[]> {
  const flaws: string[] = []
  const report: Report = (kind, message) => flaws.push(`${kind}: ${message}`)
  const { store } = evidence
  const payments = await store.transaction((tx) => tx.paymentsInBlocks(chainId, 0, everything))
  const deliveries = await store.deliveries.list({ limit: everything })
  const snapshots = await readSnapshots(store, payments)
  judgePayments(evidence, payments, snapshots, report)
  await judgeUpdates(evidence, report)
  judgeDeliveries(evidence, deliveries, snapshots, report)
  judgeLog(evidence, deliveries, report)
  judgePosts(evidence, deliveries, snapshots, report)
  return flaws
}

const getName = (txHash: string, version: number) => `${txHash} ${version}`

/** Reads every stored snapshot, by name, and looks for one above the last version, which must not exist. */
async function readSnapshots(store: Store, payments: readonly StoredPayment[]): Promise<Map<string, Buffer>> {
  const snapshots = new Map<string, Buffer>()
  for (const { id, txHash, version } of payments)
    for (let wanted = 1; wanted <= version + 1; wanted += 1) {
      const body = await store.payments.snapshot(id, wanted)
      if (body !== null) snapshots.set(getName(txHash, wanted), Buffer.from(body))
    }
  return snapshots
}

function judgePayments(
  { script, journal }: CrashEvidence,
  payments: readonly StoredPayment[],
  snapshots: ReadonlyMap<string, Buffer>,
  report: Report,
): void {
  const stored = new Map(payments.map((payment) => [payment.txHash, payment]))
  if (stored.size !== payments.length) report('repeated', 'a payment is stored twice')
  for (const txHash of journal.indexed) if (!stored.has(txHash)) report('missing', `${txHash} was confirmed as indexed`)
  for (const { txHash, integrationAddress, version, state } of script.expected) {
    const payment = stored.get(txHash)
    if (payment === undefined) report('missing', `payment ${txHash}`)
    else if (payment.version !== version || payment.state !== state)
      report('wrong', `${txHash} is version ${payment.version}, ${payment.state}; expected ${version}, ${state}`)
    for (let wanted = 1; wanted <= version + 1; wanted += 1) {
      const isExpected = integrationAddress !== null && wanted <= version
      if (snapshots.has(getName(txHash, wanted)) !== isExpected)
        report(isExpected ? 'missing' : 'wrong', `snapshot ${wanted} of ${txHash}, which has ${version} versions`)
    }
  }
}

async function judgeUpdates({ script, store, journal }: CrashEvidence, report: Report): Promise<void> {
  for (const [index, { id }] of script.updates.entries()) {
    const [stored] = await store.transaction((tx) => tx.findUpdates([id]))
    const wasAccepted = journal.accepted.has(index) ? ', which was confirmed' : ''
    if (stored === undefined) report('missing', `update ${id}${wasAccepted}`)
    else if (stored.outcome !== 'applied') report('wrong', `update ${id} is ${stored.outcome}: ${stored.reason}`)
  }
}

function judgeDeliveries(
  { script, journal }: CrashEvidence,
  deliveries: readonly DeliveryView[],
  snapshots: ReadonlyMap<string, Buffer>,
  report: Report,
): void {
  const deliveriesByName = new Map(deliveries.map((delivery) => [getName(delivery.txHash, delivery.version), delivery]))
  if (deliveriesByName.size !== deliveries.length) report('repeated', 'a snapshot has two deliveries')
  for (const name of snapshots.keys()) if (!deliveriesByName.has(name)) report('missing', `the delivery of ${name}`)
  for (const name of journal.delivered)
    if (deliveriesByName.get(name)?.status !== 'delivered') report('wrong', `${name} was confirmed as delivered`)
  const versions = new Map(script.expected.map(({ txHash, version }) => [txHash, version]))
  for (const [name, { txHash, version, status, attempts }] of deliveriesByName) {
    const isNewest = versions.get(txHash) === version
    const last = attempts.at(-1)
    const isAccepted = last !== undefined && last.reason === null
    if (status === 'delivered' && !isAccepted) report('wrong', `${name} is delivered, but its last attempt failed`)
    if (status === 'superseded' && (isNewest || last === undefined || isAccepted))
      report('wrong', `${name} is superseded, which the rule forbids`)
    if (status !== 'delivered' && status !== 'superseded')
      report('wrong', `${name} is ${status} although all faults have ended`)
  }
}

/** Deliveries that were exhausted too early. Called before any replay. */
export function findGivenUpTooEarly(exhausted: readonly DeliveryView[]): string[] {
  return exhausted
    .filter(({ attempts }) => attempts.at(-1)?.status !== 410 && attempts.length < maxAttempts)
    .map(
      ({ txHash, version, attempts }) => `wrong: ${txHash} ${version} was given up after ${attempts.length} attempts`,
    )
}

/** Checks that the attempt log has no gap, the right count, and only answers that a receiver gave. */
function judgeLog({ attempts, captured }: CrashEvidence, deliveries: readonly DeliveryView[], report: Report): void {
  const numbers = groupBy(attempts, ({ deliveryId }) => deliveryId)
  for (const [id, rows] of numbers)
    for (const [index, { number, attempted }] of rows.entries())
      if (number !== index + 1 || attempted !== rows.length)
        report(
          'wrong',
          `attempt ${number} of delivery ${id}, which counts ${attempted}, is row ${index + 1} of ${rows.length}`,
        )
  const answers = groupBy(captured, ({ body, status }) => `${getSnapshotName(body)} ${status}`)
  for (const { txHash, version, attempts: views } of deliveries) {
    const logged = groupBy(
      views.filter(({ status }) => status !== null),
      ({ status }) => `${getName(txHash, version)} ${status}`,
    )
    for (const [name, rows] of logged)
      if (rows.length > (answers.get(name)?.length ?? 0))
        report('wrong', `${name} is logged more often than it was answered`)
  }
}

/** Checks that every POST is signed and has the stored bytes, and that each payment's newest version was accepted. */
function judgePosts(
  { script, captured, secrets, interruptions }: CrashEvidence,
  deliveries: readonly DeliveryView[],
  snapshots: ReadonlyMap<string, Buffer>,
  report: Report,
): void {
  const posts = groupBy(captured, ({ body }) => getSnapshotName(body))
  const logged = new Map(deliveries.map(({ txHash, version, attempts }) => [getName(txHash, version), attempts.length]))
  for (const [name, copies] of posts) {
    const [first] = copies
    for (const post of copies) {
      if (!isSigned(post, secrets.get(post.integrationAddress) ?? '')) report('wrong', `the signature of ${name}`)
      if (first !== undefined && !post.body.equals(first.body)) report('wrong', `${name} was sent in two forms`)
    }
    if (first === undefined || snapshots.get(name)?.equals(first.body) !== true)
      report('wrong', `${name} was sent in a form that is not stored`)
    if (copies.length > (logged.get(name) ?? 0) + interruptions)
      report('repeated', `${name} was sent ${copies.length} times, logged ${logged.get(name)}`)
  }
  const newest = new Map<string, number>()
  for (const { body, accepted } of captured) {
    const { txHash, version } = JSON.parse(body.toString('utf8')) as { txHash: string; version: number }
    if (accepted && version > (newest.get(txHash) ?? 0)) newest.set(txHash, version)
  }
  for (const { txHash, integrationAddress, version } of script.expected)
    if (integrationAddress !== null && newest.get(txHash) !== version)
      report('missing', `the receiver holds version ${newest.get(txHash)} of ${txHash}, which is at ${version}`)
}

function getSnapshotName(body: Buffer): string {
  const { txHash, version } = JSON.parse(body.toString('utf8')) as { txHash: string; version: number }
  return getName(txHash, version)
}

function groupBy<T>(list: readonly T[], getKey: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of list) {
    const key = getKey(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
