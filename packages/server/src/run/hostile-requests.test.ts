/** Sends `vectors/hostile-requests.json` byte by byte to a real server on a real store. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HostileRequest, hostileRequests, toBytes } from '../../test/support/hostile-requests.js'
import { startHostileServer } from '../../test/support/hostile-server.js'
import { type Answer, exchange } from '../../test/support/raw-exchange.js'
import { eventually } from '../../test/support/tcp-server.js'

const probe = 'GET /health/live HTTP/1.1\r\nHost: probe\r\n\r\n'
const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

let server: Awaited<ReturnType<typeof startHostileServer>>
let socketsBefore: number
beforeAll(async () => {
  server = await startHostileServer()
  socketsBefore = openSockets()
})
afterAll(() => server.stop())

/** Sends a case and then a good request: on the same connection if it must stay open, else on a new one. */
async function play(hostile: HostileRequest) {
  const [first = ''] = typeof hostile.send === 'string' ? [hostile.send] : hostile.send
  const isHead = typeof first === 'string' && first.startsWith('HEAD ')
  const connection = await exchange(server.url, (index) => isHead && index === 0)
  connection.send(toBytes(hostile, server.values))
  if (hostile.end) connection.end()
  if (!hostile.closes) {
    const answers = await connection.answers(hostile.answers.length)
    connection.send(probe)
    const after = await connection.answers(1)
    connection.destroy()
    return { answers, after, rest: connection.rest() }
  }
  const answers = await connection.answers(hostile.answers.length + 1)
  await connection.closed
  const other = await exchange(server.url)
  other.send(probe)
  const after = await other.answers(1)
  other.destroy()
  return { answers, after, rest: connection.rest() }
}

function expectSafe({ status, headers, body }: Answer): void {
  if (status === 100) return
  expect(headers.get('cache-control')).toBe('private, no-store')
  if (body !== '') expect(headers.get('content-type')).toBe('application/json')
  if (status === 401) expect(headers.get('www-authenticate')).toMatch(/^(Basic|Bearer) realm="|^X-Service-Signature$/)
  const text = `${[...headers].join('\n')}\n${body}`
  expect(text).not.toContain(server.values.secret)
  expect(text).not.toContain(server.values.legacyKey)
}

describe('a request of the corpus gets the expected answer, and the next one is served', () => {
  it.each(hostileRequests())('$name', async (hostile) => {
    const { answers, after, rest } = await play(hostile)
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual(hostile.answers)
    expect(after.map(({ status, body }) => [status, body])).toEqual([[200, '{"status":"ok"}']])
    expect(rest).toBe('')
    answers.forEach(expectSafe)
  })
})

describe('after all of them', () => {
  it('no connection is left open', () => eventually(() => openSockets() <= socketsBefore))

  it('nothing was logged as an error, and no secret at all', () => {
    expect(server.logged.filter(({ level }) => level === 'error')).toEqual([])
    const text = server.logged.map((line) => line.text).join('\n')
    for (const secret of [server.values.secret, server.values.legacyKey]) expect(text).not.toContain(secret)
  })
})

it('the corpus has many names, each once', () => {
  const names = hostileRequests().map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(400)
})
