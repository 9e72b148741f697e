/** One at a time, in the order of asking. @module */

/** Resolves when it is the caller's turn, with the function that ends it. */
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
