/** Compares the content of a store with the true chain, and watches the steps that led there. @module */
import type { ServiceEvent } from '@payment-integration/core'
import type { ProvenRange, Store, StoredPayment } from '@payment-integration/core/ports'
import { parseSnapshot, type Received } from './receiver.js'
import { getKey, type LastingFacts, type TrueFacts } from './truth.js'

export interface Evidence {
  readonly chainId: number
  readonly tip: { readonly number: number; readonly hash: string }
  /** The first indexed block. */
  readonly firstBlock: number
  /** Every payment on the canonical branch, by key. */
  readonly truth: ReadonlyMap<string, TrueFacts>
  /** Block-independent facts of payments of any branch, by key. */
  readonly findLastingFacts: (key: string) => Partial<LastingFacts> | undefined
  readonly store: Store
  readonly finalityBlocks: number
  /** Expected states by transaction, of updates with a known effect, for payments on the chain. */
  readonly updates: ReadonlyMap<string, readonly (string | null)[]>
  /** Snapshots that the receiver got; null when the store has no outbox. */
  readonly received: readonly Received[] | null
}

/** The number of errors of each kind, and the first errors as text. */
export interface Verdict {
  readonly missing: number
  readonly wrong: number
  readonly repeated: number
  readonly findings: readonly string[]
  /** Number of compared payments. */
  readonly payments: number
}

/** Above any height of a simulated chain. */
const anyHeight = 1_000_000

/** Judges a store that has caught up. */
export async function judge(evidence: Evidence): Promise<Verdict> {
  const failures = { missing: [] as string[], wrong: [] as string[], repeated: [] as string[] }
  const { chainId, truth, store, updates, received } = evidence
  const { payments, snapshots } = await readStore(store, chainId)
  const stored = new Map<string, StoredPayment>()
  for (const payment of payments) {
    if (stored.has(getKey(payment))) failures.repeated.push(`payment ${getKey(payment)} is stored twice`)
    stored.set(getKey(payment), payment)
  }
  for (const [key, facts] of truth) {
    const payment = stored.get(key)
    if (payment === undefined) failures.missing.push(`payment ${key} of block ${facts.blockNumber} is not stored`)
    else failures.wrong.push(...judgeOnChain(payment, facts, updates.get(payment.txHash)))
  }
  for (const [key, payment] of stored) if (!truth.has(key)) failures.wrong.push(...judgeOffChain(payment, evidence))
  for (const payment of payments) failures.wrong.push(...judgeVersions(payment, snapshots.get(payment.id) ?? []))
  failures.wrong.push(...(await judgeChain(store, evidence)))
  if (received !== null) {
    const sent = await judgeDeliveries(store, payments, received)
    failures.missing.push(...sent.missing)
    failures.wrong.push(...sent.wrong)
    failures.repeated.push(...sent.repeated)
  }
  const { missing, wrong, repeated } = failures
  return {
    missing: missing.length,
    wrong: wrong.length,
    repeated: repeated.length,
    findings: [...missing, ...wrong, ...repeated].slice(0, 8),
    payments: truth.size,
  }
}

async function readStore(store: Store, chainId: number) {
  const payments = await store.transaction((tx) => tx.paymentsInBlocks(chainId, 0, anyHeight))
  const snapshots = new Map<string, (string | null)[]>()
  for (const { id, version } of payments) {
    const bodies: (string | null)[] = []
    // Reads one version more than the payment has, to find an extra one.
    for (let wanted = 1; wanted <= version + 1; wanted += 1) {
      const body = await store.payments.snapshot(id, wanted)
      bodies.push(body === null ? null : Buffer.from(body).toString('utf8'))
    }
    snapshots.set(id, bodies)
  }
  return { payments, snapshots }
}

function judgeOnChain(payment: StoredPayment, facts: TrueFacts, states: readonly (string | null)[] = [null]): string[] {
  const flaws: string[] = []
  const key = getKey(facts)
  for (const [name, expected] of Object.entries(facts)) {
    const actual: unknown = Reflect.get(payment, name)
    if (!isSame(actual, expected)) flaws.push(`${key}: ${name} is ${format(actual)}, the chain has ${format(expected)}`)
  }
  if (payment.offChain) flaws.push(`${key} is marked as off the chain`)
  if (payment.dropped !== null) flaws.push(`${key} is marked as dropped`)
  const allowed = payment.primary ? states : [null]
  if (!allowed.includes(payment.state))
    flaws.push(`${key}: state is ${payment.state}, expected ${allowed.join(' or ')}`)
  if (payment.primary !== (payment.ordinal === 0)) flaws.push(`${key}: primary is ${payment.primary}`)
  return flaws
}

function judgeOffChain(payment: StoredPayment, { tip, findLastingFacts, finalityBlocks }: Evidence): string[] {
  const key = getKey(payment)
  const lasting = findLastingFacts(key)
  if (lasting === undefined) return [`${key} was never on the chain`]
  const flaws = Object.entries(lasting)
    .filter(([name, expected]) => !isSame(Reflect.get(payment, name), expected))
    .map(([name]) => `${key}: ${name} never had this value`)
  if (!payment.offChain) flaws.push(`${key} of block ${payment.blockNumber} left the chain and is not marked so`)
  const isFinal = payment.blockNumber + finalityBlocks <= tip.number
  if (isFinal && payment.dropped === null) flaws.push(`${key} left the chain for good and was not dropped`)
  if (isFinal && payment.primary && payment.state !== 'failure')
    flaws.push(`${key} was dropped in state ${payment.state}`)
  return flaws
}

function judgeVersions(payment: StoredPayment, bodies: readonly (string | null)[]): string[] {
  const key = getKey(payment)
  const { version, primary, integrationAddress, state } = payment
  if (!primary || integrationAddress === null) {
    const flaws = bodies.some((body) => body !== null) ? [`${key} has snapshots although it names no integration`] : []
    return primary || version === 1 ? flaws : [...flaws, `${key} is not primary and has version ${version}`]
  }
  const flaws: string[] = []
  let previousState: string | null | undefined
  bodies.forEach((body, index) => {
    const expected = index < version
    if ((body !== null) !== expected)
      flaws.push(`${key}: snapshot ${index + 1} of ${version} is ${body === null ? 'missing' : 'unexpected'}`)
    if (body === null) return
    const snapshot = parseSnapshot(body)
    if (snapshot.version !== index + 1 || !body.includes(payment.txHash) || !body.includes(integrationAddress))
      flaws.push(`${key}: snapshot ${index + 1} is about another payment`)
    if (snapshot.state === previousState) flaws.push(`${key}: version ${index + 1} changed nothing`)
    previousState = snapshot.state
  })
  if (previousState !== state)
    flaws.push(`${key}: the newest snapshot has state ${previousState}, the payment ${state}`)
  return flaws
}

async function judgeChain(store: Store, { chainId, tip, firstBlock }: Evidence): Promise<string[]> {
  const checkpoint = await store.payments.checkpoint(chainId)
  const flaws: string[] = []
  if (checkpoint?.blockHash !== tip.hash)
    flaws.push(`the checkpoint is ${checkpoint?.blockNumber}, the head ${tip.number}`)
  const proofs = await store.chains.proofs(chainId, anyHeight)
  const ascending = proofs.toSorted((a, b) => a.from - b.from)
  if (!isGapless(ascending, firstBlock, tip.number))
    flaws.push(`the proofs cover ${ascending.map(({ from, to }) => `${from}-${to}`).join(', ')}`)
  if (ascending.some(({ proof }) => proof === 'none')) flaws.push('blocks are indexed without a proof')
  return flaws
}

function isGapless(ranges: readonly ProvenRange[], firstBlock: number, tip: number): boolean {
  let next = firstBlock
  for (const { from, to } of ranges) {
    if (from !== next || to < from) return false
    next = to + 1
  }
  return next === tip + 1
}

/** Every snapshot is delivered or superseded, once; the newest version of every payment arrived. */
async function judgeDeliveries(store: Store, payments: readonly StoredPayment[], received: readonly Received[]) {
  const flaws = { missing: [] as string[], wrong: [] as string[], repeated: [] as string[] }
  const deliveries = await store.deliveries.list({ limit: anyHeight })
  const statuses = new Map<string, string>()
  for (const { chainId, txHash, version, status } of deliveries) {
    const name = `${chainId}:${txHash} ${version}`
    if (statuses.has(name)) flaws.repeated.push(`${name} has two deliveries`)
    statuses.set(name, status)
    if (status !== 'delivered' && status !== 'superseded') flaws.wrong.push(`the delivery of ${name} is ${status}`)
  }
  const newest = new Map<string, Received>()
  const bodies = new Map<string, string>()
  for (const snapshot of received) {
    const name = `${snapshot.key} ${snapshot.version}`
    if ((bodies.get(name) ?? snapshot.body) !== snapshot.body) flaws.wrong.push(`${name} arrived in two forms`)
    bodies.set(name, snapshot.body)
    if (!statuses.has(name)) flaws.wrong.push(`${name} arrived and has no delivery`)
    if (snapshot.version > (newest.get(snapshot.key)?.version ?? 0)) newest.set(snapshot.key, snapshot)
  }
  for (const { chainId, txHash, version, state, primary, integrationAddress } of payments) {
    if (!primary || integrationAddress === null) continue
    const key = `${chainId}:${txHash}`
    const last = newest.get(key)
    if (last === undefined) flaws.missing.push(`${key} was never delivered`)
    else if (last.version !== version || last.state !== state)
      flaws.missing.push(`${key} has version ${version}, the receiver has ${last.version}`)
    for (let wanted = 1; wanted <= version; wanted += 1)
      if (!statuses.has(`${key} ${wanted}`)) flaws.missing.push(`${key} ${wanted} has no delivery`)
  }
  return flaws
}

/** Compares by value; of objects, only the fields of the truth. */
function isSame(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return actual === expected
  if (typeof actual !== 'object' || actual === null) return false
  return Object.entries(expected).every(([name, value]) => isSame(Reflect.get(actual, name), value))
}

function format(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part)) ?? 'undefined'
}

/** Collects flaws while a simulation runs. */
export interface Watch {
  noteEvent(event: ServiceEvent): void
  reorgs(): number
  /** Flaws seen so far, as text. */
  flaws(): Promise<string[]>
}

/** Creates a watch that has seen no event. */
export function openWatch(store: Store, finalityBlocks: number): Watch {
  const flaws: string[] = []
  const checks: Promise<void>[] = []
  let reorgs = 0

  /** In the simulation only a drop makes `failure`. Nothing may be dropped before its former height is final. */
  async function checkDrop(chainId: number, txHash: string): Promise<void> {
    const { payments, indexedTo } = await store.payments.transaction({ chainId, txHash })
    for (const { dropped, blockNumber, ordinal } of payments)
      if (dropped !== null && blockNumber + finalityBlocks > (indexedTo ?? 0))
        flaws.push(`${txHash}/${ordinal} of block ${blockNumber} was dropped at ${indexedTo}, before that was final`)
  }

  return {
    noteEvent(event) {
      if (event.type === 'payment.changed' && event.to === 'failure')
        checks.push(checkDrop(event.chainId, event.txHash))
      if (event.type !== 'chain.reorganized') return
      reorgs += 1
      const { from, commonAncestor } = event
      if (from - commonAncestor > finalityBlocks)
        flaws.push(`blocks ${commonAncestor + 1} to ${from} were orphaned although some were final`)
    },
    reorgs: () => reorgs,
    async flaws() {
      await Promise.all(checks)
      return flaws
    },
  }
}
