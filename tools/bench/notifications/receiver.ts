/**
 * The receiver as a separate process. It reads each request completely, answers 204 and records the arrival time. It
 * implements only the HTTP that this needs, to leave the CPU to the measured process.
 * @module
 */
import { type AddressInfo, createServer } from 'node:net'
import { txHashIn } from '../payments.js'
import { answer, readClockUs } from '../processes.js'

const accepted = 'HTTP/1.1 204 No Content\r\n\r\n'
const headEnd = Buffer.from('\r\n\r\n')

let arrivals = new Map<string, number>()
let count = 0

const server = createServer((socket) => {
  let rest: Buffer = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    const cameAt = readClockUs()
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let length = requestLength(rest); length !== null && length <= rest.length; length = requestLength(rest)) {
      count += 1
      const txHash = txHashIn(rest.subarray(0, length))
      if (!arrivals.has(txHash)) arrivals.set(txHash, cameAt)
      rest = rest.subarray(length)
      socket.write(accepted)
    }
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

const receiver = {
  url: () => `http://127.0.0.1:${port}`,
  /** Requests since the last call, and the first arrival of each transaction, on the steady clock. */
  take() {
    const result = { count, arrivals: [...arrivals] }
    count = 0
    arrivals = new Map()
    return result
  },
}
export type Receiver = typeof receiver
answer(receiver)

/** Bytes of the first request in a buffer, or null while its head is incomplete. */
function requestLength(bytes: Buffer): number | null {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return null
  const [, length = ''] = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end)) ?? []
  return end + headEnd.length + Number(length)
}
