/** Messages between a server process and the bench. @module */

/** Requests of the bench. */
export type Question = 'cpu' | 'heap' | 'stop'

/** Answers of a server process. */
export type Answer =
  | { readonly url: string }
  /** CPU time since the start, in microseconds. */
  | { readonly cpuUs: number }
  /** The heap after a collection, in bytes. */
  | { readonly heapBytes: number }

/** Sends the server's URL to the bench, and answers its requests. */
export function answerParent(url: string, stop: () => Promise<unknown>): void {
  const send = (answer: Answer) => process.send?.(answer)
  process.on('message', (question: Question) => {
    if (question === 'stop') {
      void stop().finally(() => process.disconnect())
      return
    }
    if (question === 'heap') {
      globalThis.gc?.()
      send({ heapBytes: process.memoryUsage().heapUsed })
      return
    }
    const { user, system } = process.cpuUsage()
    send({ cpuUs: user + system })
  })
  send({ url })
}
