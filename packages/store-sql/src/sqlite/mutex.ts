/** A mutex in the order of the requests. @module */

/** Resolves when the caller has the mutex, with the function that releases it. */
export type Mutex = () => Promise<() => void>

/** Makes a mutex. */
export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve()
  return async () => {
    const before = last
    let release: () => void = () => undefined
    last = new Promise((resolve) => {
      release = resolve
    })
    await before
    return release
  }
}
