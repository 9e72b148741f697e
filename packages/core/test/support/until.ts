/** Resolves once `condition` holds. @throws Error When it does not within `deadlineMs` of real time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 300_000,
): Promise<void> {
  const deadline = Date.now() + deadlineMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited ${deadlineMs} ms for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** A promise with its ends in hand. */
export function deferred<T = void>(): {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(error: unknown): void
} {
  let ends: { resolve(value: T): void; reject(error: unknown): void } | undefined
  const promise = new Promise<T>((resolve, reject) => {
    ends = { resolve, reject }
  })
  return { promise, resolve: (value) => ends?.resolve(value), reject: (error) => ends?.reject(error) }
}

/** Runs a loop; `stop` aborts it and resolves once it has ended. */
export function start(loop: { run(signal: AbortSignal): Promise<void> }) {
  const controller = new AbortController()
  const run = loop.run(controller.signal)
  const abort = () => controller.abort()
  const stop = () => {
    abort()
    return run
  }
  return { run, abort, stop }
}
