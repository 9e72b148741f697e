/** The driver fails at its first operation, its second, and so on, in each way that it can fail. @module */
import type { Cases, ConformanceFixture, Fault, FaultPlan } from './fixture.js'
import { at, buildNote, deliver, equal, faultKinds, holds } from './fixture.js'

/** More operations than any adapter needs for one delivery. */
const maxOperations = 60

/** A delivery of the sweep, to a payment of its own. */
interface Attempt<Tx> {
  readonly fixture: ConformanceFixture<Tx>
  readonly payment: number
  readonly about: string
  /** Delivers once, with the fault at the operation of this attempt. */
  deliver(version: number, failure?: Error): Promise<{ readonly outcome: unknown; readonly hasFailed: boolean }>
}

/** Makes and checks one attempt. Returns whether the fault happened. */
type Check = <Tx>(attempt: Attempt<Tx>) => Promise<boolean>

const checks: Readonly<Record<string, Check>> = {
  'of a first version keeps it whole or not at all': (attempt) => expectWholeOrNothing(attempt, 1),
  async 'of a greater version keeps it whole or not at all'(attempt) {
    equal(await deliver(attempt.fixture, at(1, attempt.payment)), 'apply', attempt.about)
    return expectWholeOrNothing(attempt, 2)
  },
  'around a failing effect keeps nothing': expectNothing,
  'of a duplicate changes nothing': expectUnchanged,
}

/** One test per check and kind of fault. */
export const sweepCases: Cases = Object.fromEntries(
  Object.entries(checks).flatMap(([kind, check]) =>
    faultKinds.map((fault) => [
      `a fault (${fault}) at any operation ${kind}`,
      (fixture, faults) => sweep(fixture, faults, fault, check),
    ]),
  ),
)

/** Goes on until a delivery ends without reaching the operation that would fail. */
async function sweep<Tx>(fixture: ConformanceFixture<Tx>, faults: FaultPlan, fault: Fault, check: Check) {
  // Work that a store does only once, such as connecting, comes before the sweep.
  equal(await deliver(fixture, at(1)), 'apply')
  for (let index = 0; ; index++) {
    holds(index < maxOperations, `a delivery takes fewer than ${maxOperations} operations`)
    const happened = await check({
      fixture,
      payment: index + 2,
      about: `${fault} at operation ${index}`,
      async deliver(version, failure) {
        faults.arm(index, fault)
        const outcome = await deliver(fixture, at(version, index + 2), failure).catch((error: unknown) => error)
        return { outcome, hasFailed: faults.disarm() }
      },
    })
    if (!happened) return holds(index > 0, 'the fixture sends the operations of its driver through the faults')
  }
}

/** A delivery succeeds, or fails and can be repeated. Its note is stored if and only if its version is, and once. */
async function expectWholeOrNothing<Tx>(attempt: Attempt<Tx>, version: number): Promise<boolean> {
  const { fixture, payment, about } = attempt
  const { outcome, hasFailed } = await attempt.deliver(version)
  if (!hasFailed || typeof outcome === 'string') equal(outcome, 'apply', about)
  const isStored = await isKept(attempt, version)
  if (outcome === 'apply') equal(isStored, true, about)
  equal(await deliver(fixture, at(version, payment)), isStored ? 'duplicate' : 'apply', about)
  equal(await isKept(attempt, version), true, about)
  equal(await deliver(fixture, at(version + 1, payment)), 'apply', about)
  return hasFailed
}

/** Whatever fails besides the effect, none of its writes is kept, and a second delivery is handled. */
async function expectNothing<Tx>(attempt: Attempt<Tx>): Promise<boolean> {
  const { fixture, payment, about } = attempt
  const failure = new Error('this effect was told to fail')
  const { outcome, hasFailed } = await attempt.deliver(1, failure)
  holds(hasFailed ? typeof outcome !== 'string' : outcome === failure, `${about}: the delivery fails`)
  equal(await fixture.store.current(at(1, payment)), undefined, about)
  equal(await listNotes(attempt), [], about)
  equal(await deliver(fixture, at(1, payment)), 'apply', about)
  equal(await isKept(attempt, 1), true, about)
  return hasFailed
}

async function expectUnchanged<Tx>(attempt: Attempt<Tx>): Promise<boolean> {
  const { fixture, payment, about } = attempt
  equal(await deliver(fixture, at(1, payment)), 'apply', about)
  const { outcome, hasFailed } = await attempt.deliver(1)
  if (!hasFailed || typeof outcome === 'string') equal(outcome, 'duplicate', about)
  equal(await isKept(attempt, 1), true, about)
  equal(await deliver(fixture, at(1, payment)), 'duplicate', about)
  return hasFailed
}

/** Whether the version is stored. Its note must be there once if so, and not at all if not. */
async function isKept<Tx>(attempt: Attempt<Tx>, version: number): Promise<boolean> {
  const stored = await attempt.fixture.store.current(at(version, attempt.payment))
  const notes = (await listNotes(attempt)).filter((note) => note === buildNote(at(version, attempt.payment)))
  const isStored = stored === version
  equal(notes.length, isStored ? 1 : 0, `${attempt.about}, stored ${stored}: notes of version ${version}`)
  return isStored
}

async function listNotes<Tx>({ fixture, payment }: Attempt<Tx>): Promise<string[]> {
  return (await fixture.notes()).filter((note) => note.startsWith(`${payment}/`))
}
