/** Sends `vectors/hostile-requests.json` byte by byte to a real server on a real store. */
import { createHash } from 'node:crypto'
import type { Logger } from '@payment-integration/core/ports'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HostileRequest, hostileRequests, toBytes, type Values } from '../../test/support/hostile-requests.js'
import { signBody } from '../../test/support/integration-service.js'
import { type Answer, exchange } from '../../test/support/raw-exchange.js'
import { eventually } from '../../test/support/tcp-server.js'
import { tempConfig } from '../../test/support/temp-config.js'
import { type RunningServer, startServer } from './start-server.js'

const probe = 'GET /health/live HTTP/1.1\r\nHost: probe\r\n\r\n'
const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

const processorSecret = 'processor-secret-of-the-corpus'
const logged: { level: string; text: string }[] = []
const write = (level: string) => (fields: object, message: string) =>
  void logged.push({ level, text: `${message} ${JSON.stringify(fields)}` })
const logger: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }

/** Bytes from a counter, so that the secrets are the same in every run. */
function countedRandom() {
  let counter = 0
  const next = (length: number) => createHash('shake256', { outputLength: length }).update(`${counter++}`).digest()
  return { bytes: next, fraction: () => 0.5 }
}

let server: RunningServer
let remove: () => Promise<void>
let values: Values
let socketsBefore: number
beforeAll(async () => {
  const made = await tempConfig({ PI_PROCESSOR_SECRETS: processorSecret })
  remove = made.remove
  server = await startServer(made.config, { random: countedRandom(), logger })
  const address = `0x${'a1'.repeat(20)}`
  const { apiSecret: secret } = await server.service.integrations.create({ address })
  const { apiKey: legacyKey } = await server.service.legacyKeys.create()
  values = { address, secret, legacyKey, sign: (body) => signBody(body, processorSecret) }
  socketsBefore = openSockets()
})
afterAll(async () => {
  await server.stop()
  await remove()
})

/** Sends a case and then a good request: on the same connection if it must stay open, else on a new one. */
async function play(hostile: HostileRequest) {
  const [first = ''] = typeof hostile.send === 'string' ? [hostile.send] : hostile.send
  const isHead = typeof first === 'string' && first.startsWith('HEAD ')
  const connection = await exchange(server.url, (index) => isHead && index === 0)
  connection.send(toBytes(hostile, values))
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
  expect(text).not.toContain(values.secret)
  expect(text).not.toContain(values.legacyKey)
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
    expect(logged.filter(({ level }) => level === 'error')).toEqual([])
    const text = logged.map((line) => line.text).join('\n')
    for (const secret of [values.secret, values.legacyKey]) expect(text).not.toContain(secret)
  })
})

it('the corpus has many names, each once', () => {
  const names = hostileRequests().map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(400)
})
