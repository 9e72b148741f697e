import { afterEach, describe, expect, it } from 'vitest'
import { listenApp } from '../../test/support/listening-app.js'
import { type Exchange, exchange } from '../../test/support/raw-exchange.js'
import { createSourceReader } from '../limits/request-limits.js'

const live = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n'
const opened: Exchange[] = []
let server: Awaited<ReturnType<typeof listenApp>>
afterEach(async () => {
  for (const connection of opened.splice(0)) connection.destroy()
  await server.stop()
})

async function listen(maxPerSource: number, findConnectionSource?: () => string | null) {
  const sources = findConnectionSource === undefined ? createSourceReader() : { findConnectionSource }
  server = await listenApp({}, { connections: { maxPerSource, sources } })
}

/** Connects and sends a request; resolves the status, or null when the server closed. */
async function ask() {
  const connection = await exchange(server.url)
  opened.push(connection)
  connection.send(live)
  const [answer] = await connection.answers(1)
  return { connection, status: answer?.status ?? null }
}

describe('connections per source', () => {
  it('beyond the limit are closed at once, and the others are served', async () => {
    await listen(2)
    const [first, second] = [await ask(), await ask()]
    expect([first.status, second.status]).toEqual([200, 200])
    expect([(await ask()).status, (await ask()).status]).toEqual([null, null])
    first.connection.send(live)
    expect((await first.connection.answers(1))[0]?.status).toBe(200)
  })

  it('are counted down when one closes; a rejected one was never counted', async () => {
    await listen(1)
    const { connection } = await ask()
    for (let times = 0; times < 5; times += 1) expect((await ask()).status).toBe(null)
    connection.destroy()
    // The server notices it a moment later.
    while ((await ask()).status === null) {}
    expect((await ask()).status).toBe(null)
  })

  it('are counted by source, and those without a source, such as of a trusted proxy, are unlimited', async () => {
    const sources = ['a', 'b', null, null]
    await listen(1, () => sources.pop() ?? null)
    for (let times = 0; times < 4; times += 1) expect((await ask()).status).toBe(200)
  })
})
