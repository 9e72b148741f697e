/** Faults that a fixture lets happen to its driver, for the sweep over every operation. @module */

/**
 * The fault of an operation. `refused`: the database answers with an error and has done nothing.
 * `lost before`: the connection breaks before the database gets it. `lost after`: the database acts, and the
 * connection breaks before its answer, as in a COMMIT whose answer never arrives.
 */
export type Fault = 'refused' | 'lost before' | 'lost after'

/** The three of them. */
export const faultKinds: readonly Fault[] = ['refused', 'lost before', 'lost after']

/** The error of a failed operation. */
export class InjectedFaultError extends Error {
  override readonly name = 'InjectedFaultError'
  readonly fault: Fault
  constructor(fault: Fault) {
    super(`The operation was made to fail: ${fault}.`)
    this.fault = fault
  }
}

/** The side of a fixture: every operation of its driver asks here what becomes of it. */
export interface Faults {
  /** The fault of the operation that begins now; `undefined` for none. For fixtures that act it out on a wire. */
  next(): Fault | undefined
  /**
   * Runs an operation, synchronous or not, as {@link Faults.next} says.
   * @param sever - Breaks the operation's connection, where there is one; called for the two `lost` faults.
   * @throws {@link InjectedFaultError} In place of the answer.
   */
  operation<Result>(run: () => Result, sever?: () => void): Result
}

/** The side of the suite. */
export interface FaultPlan extends Faults {
  /** From now on counts operations, and lets the one at `index`, from 0, fail. */
  arm(index: number, fault: Fault): void
  /** Lets everything pass again. Says whether the fault happened. */
  disarm(): boolean
}

/** Makes a plan in which nothing fails yet. */
export function createFaultPlan(): FaultPlan {
  let armed: { readonly index: number; readonly fault: Fault } | undefined
  let count = 0
  const next = () => (armed !== undefined && count++ === armed.index ? armed.fault : undefined)
  return {
    next,
    operation(run, sever) {
      const fault = next()
      if (fault === undefined) return run()
      const give = () => {
        if (fault !== 'refused') sever?.()
        throw new InjectedFaultError(fault)
      }
      if (fault !== 'lost after') return give()
      const result = run()
      if (typeof (Object(result) as Partial<Promise<unknown>>).then !== 'function') return give()
      return (result as Promise<unknown>).then(give, give) as typeof result
    },
    arm(index, fault) {
      armed = { index, fault }
      count = 0
    },
    disarm() {
      const happened = armed !== undefined && count > armed.index
      armed = undefined
      return happened
    },
  }
}
