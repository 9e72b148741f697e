/** docs/interface.md 5 rule 3: the time of a 401 reveals nothing about stored data. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, parseMasterKey, type Service, silentLogger, systemClock } from '@payment-integration/core'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basic } from '../../test/support/integration-service.js'
import { exchange } from '../../test/support/raw-exchange.js'
import { startTimingServer, timingMasterKey } from '../../test/support/start-timing-server.js'
import { differences, type Kinds, noise } from '../../test/support/timing.js'
import { tooLoud } from '../../test/support/too-loud.js'
import { createUndiciSender } from '../sender/undici-sender.js'

const seed = Date.now() & 0x7fffffff
const address = (n: number) => `0x${String(n).padStart(40, 'a')}`
const wrongSecret = `pi_api_${'w'.repeat(43)}`
const list = '/api/v1/integration/payments'

let service: Service
let path: string
let now: number
let headers: Readonly<Record<string, string | undefined>>
let stop: () => Promise<void>

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-timing-'))
  path = join(folder, 'timing.db')
  const store = createSqliteStore({ path })
  await store.migrate()
  const sender = createUndiciSender()
  now = Date.now()
  const clock = { ...systemClock, now: () => now }
  const masterKey = parseMasterKey(timingMasterKey)
  service = createService({ store, sender, clock, masterKey, logger: silentLogger })
  const { integrations } = service
  const create = (n: number) =>
    integrations.create({ address: address(n), name: 'A shop', notificationUrl: 'https://shop.example/hook' })
  for (let other = 100; other < 300; other++) await create(other)
  const [known, disabled, unissued, rotated] = await Promise.all([create(1), create(2), create(3), create(4)])
  await integrations.setEnabled(address(2), false)
  const noSecret = { apiSecret: null, previousApiSecret: null }
  await store.transaction((tx) => tx.integrations.update(address(3), noSecret))
  await integrations.rotateApiSecret(address(4), { graceMs: 1_000 })
  now += 1_000
  headers = {
    'no header': undefined,
    'a malformed header': basic(address(1), known.apiSecret).replace(/.$/, '!'),
    'an unknown address': basic(address(5), wrongSecret),
    'a wrong secret': basic(address(1), wrongSecret),
    'a disabled integration': basic(address(2), disabled.apiSecret),
    'no secret issued': basic(address(3), unissued.apiSecret),
    'a previous secret that has ended': basic(address(4), rotated.apiSecret),
  }
  stop = async () => {
    await sender.close()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
})
afterAll(() => stop())

const kinds = (run: (authorization: string | undefined) => Promise<unknown>): Kinds =>
  Object.fromEntries(Object.entries(headers).map(([name, authorization]) => [name, () => run(authorization)]))

describe('the failures of authentication', () => {
  it('all fail', async () => {
    for (const authorization of Object.values(headers)) expect(await service.authenticate(authorization)).toBeNull()
  })

  // A tenth is two microseconds, far below what the network adds; a look-up or a hash less is several times that.
  it('take the same time in the process, within a tenth', async () => {
    const all = kinds((authorization) => service.authenticate(authorization))
    const found = await differences(all, { seed, samples: 4_000, tolerated: 0.1 })
    expect(found, `seed ${seed}`).toEqual([])
  })

  it('have indistinguishable timings over HTTP', async () => {
    const wrong = basic(address(1), wrongSecret)
    const requests = new Map(
      Object.values(headers).map((value) => {
        // As long as the others: a shorter request would save reading time.
        const header = value === undefined ? `X-Authorization: ${wrong.slice(2)}\r\n` : `Authorization: ${value}\r\n`
        return [value, `GET ${list} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`] as const
      }),
    )
    const found = await differences(
      async () => {
        const server = await startTimingServer(path, now)
        let connection = await exchange(server.url)
        let asked = 0
        async function ask(authorization: string | undefined) {
          // The server closes a connection after so many requests. The request that waits for the next one is among the
          // slowest, which are left out.
          if (++asked % 900 === 0) {
            connection.destroy()
            connection = await exchange(server.url)
          }
          connection.send(requests.get(authorization) ?? '')
          return connection.answers(1)
        }
        return {
          kinds: kinds(ask),
          async close() {
            connection.destroy()
            await server.stop()
          },
        }
      },
      { seed, samples: 1_000 },
    )
    expect(found, `seed ${seed}`).toEqual([])
  })

  it('are distinguishable when an unknown address is rejected without a look-up', async (context) => {
    const unknown = headers['an unknown address']
    const all = kinds(async (given) => (given === unknown ? null : service.authenticate(given)))
    const found = await differences(all, { seed, samples: 500, tolerated: 0.1 })
    const share = await noise(() => service.authenticate(headers['a wrong secret']), { seed, samples: 500 })
    if (found.length === 0 && share > 0.1) tooLoud(context, `differences below ${Math.round(share * 100)} % are chance`)
    expect(new Set(found.map(({ faster }) => faster))).toEqual(new Set(['an unknown address']))
    expect(found).toHaveLength(Object.keys(headers).length - 1)
  })
})
