import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startTempTcp } from '../../test/support/tcp-server.js'
import { getTempConfig, startTempServer } from '../../test/support/temp-server.js'
import type { Config } from '../config/read-config.js'
import { openService } from './open-service.js'
import { startServer } from './start-server.js'

const address = `0x${'bB'.repeat(20)}`

/** The write-ahead log of a SQLite database, which a store empties when it closes. */
const logSize = ({ database }: Config) => (database.kind === 'sqlite' ? statSync(`${database.path}-wal`).size : null)

it('stops within its time, also when called twice, and keeps its data for the next start', async () => {
  const config = await getTempConfig()
  const first = await startServer(config)
  await first.service.integrations.create({ address })
  await Promise.all([first.stop(), first.stop()])
  await expect(fetch(`${first.url}/health`)).rejects.toThrow()
  const second = await startServer(config)
  expect(await second.service.integrations.list()).toHaveLength(1)
  await second.stop()
})

it('answers while a chain node is dead: health is degraded and names the chain, not its URL', async () => {
  const node = await startTempTcp((socket) => socket.destroy())
  const server = await startTempServer({
    PI_RPC_URL_31337: `${node.url}/v3/CANARY`,
    PI_ROUTERS_31337: `0x${'ee'.repeat(20)}@0.8`,
    PI_POLL_MS_31337: '50',
  })
  const getHealth = async () => (await fetch(`${server.url}/health`)).json()
  const isolated = { chainId: 31337, head: null, indexed: null }
  await expect.poll(getHealth, { timeout: 300_000 }).toMatchObject({ status: 'degraded', chains: [isolated] })
  expect(JSON.stringify(await getHealth())).not.toContain('CANARY')
  const startedAt = performance.now()
  await server.stop()
  expect(performance.now() - startedAt).toBeLessThan(60_000)
})

it('reports a port in use with advice, and closes its database', async () => {
  const { url } = await startTempServer()
  const config = await getTempConfig({ PI_PORT: new URL(url).port })
  const message = expect.stringMatching(/port \d+ \(EADDRINUSE\): another program listens there/)
  await expect(startServer(config)).rejects.toMatchObject({ name: 'ListenError', code: 'ERR_LISTEN', message })
  expect(logSize(config)).toBe(0)
})

it('closes its database when the console cannot be opened', async () => {
  const config = await getTempConfig({ PI_CONSOLE: 'on' })
  const limits = { ...config.limits, trustedProxies: ['nonsense'] }
  await expect(startServer({ ...config, limits })).rejects.toThrow('nonsense')
  expect(logSize(config)).toBe(0)
})

it('opens no database with a rate limit of 0', async () => {
  const config = await getTempConfig()
  const limits = { ...config.limits, requestsPerSource: 0 }
  await expect(startServer({ ...config, limits })).rejects.toThrow(/^requestsPerSource is 0; pass a whole/)
  expect(config.database.kind === 'sqlite' && existsSync(config.database.path)).toBe(false)
})

it('rejects a database of another master key, and opens it with that key listed', async () => {
  const first = await getTempConfig()
  const opened = await openService(first)
  await opened.service.integrations.create({ address })
  await opened.close()
  const masterKey = randomBytes(32).toString('hex')
  for (const open of [startServer, openService])
    await expect(open({ ...first, masterKey })).rejects.toMatchObject({ code: 'ERR_MASTER_KEY_MISSING' })
  await (await startServer({ ...first, masterKey: `${masterKey},${first.masterKey}` })).stop()
})

it('fails for a database that cannot be opened', async () => {
  const database = { kind: 'sqlite', path: '/proc/no/such/folder/x.db' } as const
  const started = startServer({ ...(await getTempConfig()), database })
  await expect(started).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
})
