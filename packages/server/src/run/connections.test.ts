import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { listenApp } from '../../test/support/listening-app.js'
import { eventually } from '../../test/support/tcp-server.js'

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** A client connection that the server has accepted. */
async function open(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  sockets.push(socket)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  await once(socket, 'connect')
  /** Connections and bytes arrive in order, so a later answer proves that earlier bytes have arrived. */
  const arrived = async () => void (await (await fetch(`${url}/health/live`)).text())
  await arrived()
  return { socket, closed, arrived, received: () => received }
}

describe('a shutdown does not wait for a connection', () => {
  const half = 'GET /health/live HTTP/1.1\r\nHost: '
  const whole = `${half}a\r\n\r\n`

  it.each([
    ['that sent nothing', '', ''],
    ['that sent half of a request', '', half],
    ['that is kept alive', whole, ''],
    ['that is kept alive and sent half of its next request', whole, half],
  ])('%s', async (_, first, second) => {
    const app = await listenApp()
    const { socket, closed, arrived, received } = await open(app.url)
    socket.write(first)
    await eventually(() => first === '' || received().endsWith('{"status":"ok"}'))
    socket.write(second)
    await arrived()
    const startedAt = performance.now()
    await app.stop()
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    await closed
  })
})

it('a shutdown lets a request finish that is still arriving', async () => {
  const app = await listenApp()
  const { socket, closed, received } = await open(app.url)
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
  await app.stop()
  await closed
  expect(received()).toMatch(/^HTTP\/1\.1 200 /)
  expect(received()).toMatch(/\{"status":"ok"\}$/)
})
