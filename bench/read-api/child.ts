/** What a server process and the bench say to each other. @module */

/** Asked by the bench. */
export type Question = 'cpu' | 'heap' | 'stop'

/** Told by a server process. */
export type Answer =
  | { readonly url: string }
  /** CPU time since the start, in microseconds. */
  | { readonly cpuUs: number }
  /** The heap after a collection, in bytes. */
  | { readonly heapBytes: number }

/** Tells the bench where the server listens, and answers its questions. */
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
