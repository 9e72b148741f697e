/** Every row of `vectors/addresses.json` through the address rule, and some of them through a sender. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Canary, startCanary, watchDialling } from '../../test/support/hostile-canary.js'
import { type DnsServer, rcode, records, startDns } from '../../test/support/hostile-dns.js'
import { isLoopbackAddress, isPublicAddress } from './guarded-connector.js'
import { createUndiciSender } from './undici-sender.js'

interface Row {
  readonly input: string
  readonly kind: 'address' | 'url'
  readonly rejected: boolean
  readonly why: string
}
const file = new URL('../../../../vectors/addresses.json', import.meta.url)
const rows = JSON.parse(readFileSync(file, 'utf8')) as readonly Row[]
const addresses = rows.filter(({ kind }) => kind === 'address')
const urls = rows.filter(({ kind }) => kind === 'url')
/** The sender asks the same rule about each address, so some rows show it. */
const some = <T>(all: readonly T[]) => all.filter((_, n) => n % 8 === 0)

let canary: Canary
let dns: DnsServer
let answers: readonly string[] = []
const watch = watchDialling()
beforeAll(async () => {
  canary = await startCanary()
  dns = await startDns((query) =>
    answers.length === 0 ? { flags: rcode.noSuchName } : { answers: records(query, answers) },
  )
})
afterAll(async () => {
  watch.stop()
  expect(watch.dialled).toEqual([])
  expect(canary.connections()).toBe(0)
  await Promise.all([canary.stop(), dns.stop()])
})

async function send(url: string, found: readonly string[] = [], ports?: readonly number[]) {
  answers = found
  dns.queries.length = 0
  const sender = createUndiciSender({ servers: dns.servers, ca: canary.ca, ports, connectTimeoutMs: 600_000 })
  const result = await sender.post({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 600_000 })
  await sender.close()
  return result
}

describe('an address', () => {
  it.each(addresses)('$input: $why', ({ input, rejected }) => {
    expect(isPublicAddress(input)).toBe(!rejected)
  })

  // A zone is no part of a DNS answer.
  const answerable = addresses.filter(({ input, rejected }) => rejected && isIP(input) !== 0 && !input.includes('%'))
  it.each(some(answerable))('$input is not dialled when a name resolves to it', async ({ input }) => {
    const { httpsPort } = canary
    expect(await send(`https://shop.hook.example:${httpsPort}/`, [input], [httpsPort])).toMatchObject({
      kind: 'failure',
      reason: 'rejected_address',
    })
    expect(dns.queries).toHaveLength(2)
  })

  it.each(some(addresses.filter(({ input }) => isIP(input) !== 0)))(
    '$input is not dialled when the URL names it',
    async ({ input }) => {
      const { httpsPort } = canary
      const host = isIP(input) === 6 ? `[${input}]` : input
      expect(await send(`https://${host}:${httpsPort}/`, [], [httpsPort])).toMatchObject({ reason: 'rejected_address' })
      expect(dns.queries).toEqual([])
    },
  )
})

describe('a URL', () => {
  it.each(urls.filter(({ rejected }) => rejected))(
    '$input is rejected without a DNS query: $why',
    async ({ input }) => {
      expect(await send(input)).toMatchObject({ kind: 'failure', reason: 'rejected_address' })
      expect(dns.queries).toEqual([])
    },
  )

  it.each(some(urls.filter(({ rejected }) => !rejected)))('$input is resolved: $why', async ({ input }) => {
    // The name does not exist, so nothing is dialled.
    expect(await send(input)).toMatchObject({ kind: 'failure', reason: 'connection' })
    expect(new Set(dns.queries.map(({ name }) => name)).size).toBe(1)
  })
})

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1'])('%s is loopback', (address) =>
    expect(isLoopbackAddress(address)).toBe(true),
  )
  it.each(['8.8.8.8', '10.0.0.1', '0.0.0.0', '::', '::ffff:127.0.0.1', '::7f00:1', 'localhost', '', '::1%lo'])(
    '%j is not loopback',
    (address) => expect(isLoopbackAddress(address)).toBe(false),
  )
})
