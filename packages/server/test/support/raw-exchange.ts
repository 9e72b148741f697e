/** Requests written byte by byte, and their answers one by one. */
import { connect, type Socket } from 'node:net'
import { parseRaw } from './raw-http.js'

/** An answer as it was read. */
export type Answer = ReturnType<typeof parseRaw>
/** A connection for raw bytes. */
export type Exchange = Awaited<ReturnType<typeof exchange>>

/**
 * Connects.
 *
 * @param withoutBody - Which answers, counted from 0, end with their headers, as those to HEAD do. Others need a
 * `Content-Length`.
 */
export async function exchange(url: string, withoutBody: (index: number) => boolean = () => false) {
  const { hostname, port } = new URL(url)
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opening = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(opening))
    opening.once('error', reject)
  })
  let received = ''
  let taken = 0
  let wake = () => {}
  let isClosed = false
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isClosed = true
      resolve()
      wake()
    })
  })
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    wake()
  })
  // A reset also counts as closed.
  socket.on('error', () => undefined)

  function take(): Answer | null {
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return null
    const { status, headers } = parseRaw(received)
    const isInterim = status >= 100 && status < 200
    const length = isInterim || withoutBody(taken) ? 0 : Number(headers.get('content-length') ?? 0)
    const end = headEnd + 4 + length
    if (received.length < end) return null
    const body = received.slice(headEnd + 4, end)
    received = received.slice(end)
    taken++
    return { status, headers, body }
  }

  return {
    /** Resolves when the server has closed. */
    closed,
    send: (bytes: string | Uint8Array) => void socket.write(bytes),
    /** Closes this side's half. */
    end: () => void socket.end(),
    /** Stops reading, so that the server's bytes pile up. */
    pause: () => void socket.pause(),
    /** Received bytes that belong to no expected answer. */
    rest: () => received,
    destroy: () => void socket.destroy(),
    /** Resolves the next `count` answers, or fewer when the server closed before. */
    async answers(count: number) {
      const answers: Answer[] = []
      for (;;) {
        for (let answer = take(); answer !== null; answer = take()) {
          answers.push(answer)
          if (answers.length === count) return answers
        }
        if (isClosed) return answers
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
