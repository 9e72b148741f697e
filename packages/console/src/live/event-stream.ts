/** A stream of server-sent events to one open page. @module */

const encoder = new TextEncoder()
const heartbeatMs = 15_000
/** Bytes that may wait for a slow connection. It is then dropped; the browser connects again. */
const mostWaiting = 1_000_000
/** How long a stream lives by default: the next one checks the session again. */
export const streamDefaults = { lifeMs: 60_000 } as const

/** Sends a piece of the stream: one or more events, or a comment. */
export type Send = (text: string) => void

/** How a stream ends. */
export interface StreamEnd {
  /** The stream ends after this time, in milliseconds. The browser connects again with its last id. */
  readonly lifeMs: number
  /** Called once, when the stream ends by either side. */
  readonly onClose: () => void
}

/**
 * Opens a stream.
 * @param start - Begins to send, and returns how to end that.
 */
export function openEventStream(start: (send: Send) => () => void, { lifeMs, onClose }: StreamEnd) {
  let close = (): void => undefined
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let isOpen = true
        let unfollow = (): void => undefined
        const end = (leave: () => void) => {
          if (!isOpen) return
          isOpen = false
          clearInterval(heartbeat)
          clearTimeout(life)
          unfollow()
          onClose()
          try {
            leave()
          } catch {
            // The reader cancelled it.
          }
        }
        close = () => end(() => controller.close())
        const send = (text: string) => {
          if (!isOpen) return
          // An error frees the waiting bytes at once; after a close they would wait for the reader.
          if ((controller.desiredSize ?? 0) <= 0)
            return end(() => controller.error(new Error('A page reads its events too slowly. It may connect again.')))
          controller.enqueue(encoder.encode(text))
        }
        const heartbeat = setInterval(() => send(': heartbeat\n\n'), heartbeatMs)
        heartbeat.unref?.()
        const life = setTimeout(() => {
          send('retry: 100\n\n')
          close()
        }, lifeMs)
        life.unref?.()
        send('retry: 2000\n\n')
        unfollow = start(send)
        // It may have been dropped while it began.
        if (!isOpen) unfollow()
      },
      cancel: () => close(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: mostWaiting }),
  )
  return { stream, close: () => close() }
}
