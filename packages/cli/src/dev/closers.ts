/** Ends what was started, in reverse order. @module */

/** Things to end. */
export interface Closers {
  /** Adds one and returns the thing that it belongs to. */
  add<T>(thing: T, close: (thing: T) => unknown): T
  /** Ends all of them, newest first, also when some fail. Rejects with the first failure. Further calls share the result. */
  close(): Promise<void>
}

/** An empty list. */
export function createClosers(): Closers {
  const pending: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  async function closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (let close = pending.pop(); close; close = pending.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  return {
    add(thing, close) {
      pending.push(() => close(thing))
      return thing
    },
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}
