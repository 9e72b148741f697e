const deadlineMs = 300_000

/** Resolves once `condition` holds. @throws Error When it does not within five minutes of real time. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + deadlineMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited ${deadlineMs} ms for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** A promise that the test resolves. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((end) => {
    resolve = end
  })
  return { promise, resolve }
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
