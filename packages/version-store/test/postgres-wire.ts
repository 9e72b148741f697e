/** A relay in front of a PostgreSQL server that acts out faults on the wire, whichever driver is connected. @module */
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Faults } from '../src/conformance/fixture.js'
import { openRelay } from './relay.js'

const socketName = '.s.PGSQL.5432'
const sslRequest = 80_877_103

/** Every message, or group of messages, after which a client waits for its answer is one operation. */
export async function openWire(serverHost: string, faults: Faults) {
  const target = join(serverHost, socketName)
  const { folder, close } = await openRelay(target, socketName, (...sides) => relay(...sides, faults))
  return {
    connectionString: `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`,
    close,
  }
}

function relay(client: Socket, upstream: Socket, sever: () => void, faults: Faults): void {
  let startingUp = true
  let incoming: Buffer = Buffer.alloc(0)
  let operation: Buffer[] = []
  /** Holds back what the server answers, until it is ready for the next operation. */
  let losing: Buffer | undefined

  client.on('data', (data) => {
    incoming = Buffer.concat([incoming, data])
    for (;;) {
      const lengthAt = startingUp ? 0 : 1
      if (incoming.length < lengthAt + 4) return
      const end = lengthAt + incoming.readInt32BE(lengthAt)
      if (incoming.length < end) return
      const message = incoming.subarray(0, end)
      incoming = incoming.subarray(end)
      if (startingUp) {
        startingUp = message.readInt32BE(4) === sslRequest
        upstream.write(message)
      } else take(message)
    }
  })
  upstream.on('data', (data) => {
    if (losing === undefined) {
      client.write(data)
      return
    }
    losing = Buffer.concat([losing, data])
    if (endsReady(losing)) sever()
  })

  function take(message: Buffer): void {
    operation.push(message)
    const type = String.fromCharCode(message[0] ?? 0)
    if (!'QSHX'.includes(type)) return
    const bytes = Buffer.concat(operation)
    operation = []
    // A Flush asks in the middle of an operation, for the types of its values.
    const fault = 'HX'.includes(type) ? undefined : faults.next()
    // Nothing rejects a ROLLBACK but a connection that is gone.
    if (fault === 'lost before' || (fault === 'rejected' && /rollback/i.test(bytes.toString('latin1')))) {
      sever()
      return
    }
    if (fault === 'lost after') losing = Buffer.alloc(0)
    upstream.write(fault === 'rejected' ? getRejection(bytes.toString('latin1')) : bytes)
  }
}

/** In place of the operation, one that only fails. A COMMIT that fails ends its transaction. */
function getRejection(text: string): Buffer {
  const sql = `${/commit/i.test(text) ? 'ROLLBACK; ' : ''}DO $$ BEGIN RAISE EXCEPTION 'rejected by the test'; END $$\0`
  const message = Buffer.alloc(5 + sql.length)
  message.write('Q')
  message.writeInt32BE(4 + sql.length, 1)
  message.write(sql, 5)
  return message
}

/** Whether the last message is ReadyForQuery. */
function endsReady(bytes: Buffer): boolean {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const end = at + 1 + bytes.readInt32BE(at + 1)
    if (end === bytes.length) return bytes[at] === 'Z'.charCodeAt(0)
    at = end
  }
  return false
}
