/** A stream of server-sent events to one open page. @module */

const encoder = new TextEncoder()
const heartbeatMs = 15_000
/** Events that may wait for a slow connection. It is then closed; the browser connects again. */
const mostWaiting = 1_000

/** Sends a piece of the stream: one or more events, or a comment. */
export type Send = (text: string) => void

/**
 * Opens a stream.
 * @param start - Begins to send, and returns how to end that.
 * @param onClose - Called once, when the stream ends by either side.
 */
export function openEventStream(start: (send: Send) => () => void, onClose: () => void) {
  let close = (): void => undefined
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let isOpen = true
        let unfollow = (): void => undefined
        close = () => {
          if (!isOpen) return
          isOpen = false
          clearInterval(heartbeat)
          unfollow()
          onClose()
          try {
            controller.close()
          } catch {
            // The reader cancelled it.
          }
        }
        const send = (text: string) => {
          if (!isOpen) return
          if ((controller.desiredSize ?? 0) < -mostWaiting) return close()
          controller.enqueue(encoder.encode(text))
        }
        const heartbeat = setInterval(() => send(': heartbeat\n\n'), heartbeatMs)
        heartbeat.unref?.()
        send('retry: 2000\n\n')
        unfollow = start(send)
      },
      cancel: () => close(),
    },
    { highWaterMark: 1 },
  )
  return { stream, close: () => close() }
}
