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
  let unread: Buffer = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    const arrivedAtUs = readClockUs()
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    for (let end = findRequestEnd(unread); end !== null && end <= unread.length; end = findRequestEnd(unread)) {
      count += 1
      const txHash = txHashIn(unread.subarray(0, end))
      if (!arrivals.has(txHash)) arrivals.set(txHash, arrivedAtUs)
      unread = unread.subarray(end)
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

/** The length of the first request in a buffer, or null while its head is incomplete. */
function findRequestEnd(bytes: Buffer): number | null {
  const end = bytes.indexOf(headEnd)
  if (end < 0) return null
  const [, length = ''] = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end)) ?? []
  return end + headEnd.length + Number(length)
}
