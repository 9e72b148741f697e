import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { openService, readConfig } from '@payment-integration/server/service'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { releasedMigrations } from '../../../store-sql/src/migrations/migrate.js'
import type { Migration } from '../../../store-sql/src/schema/migration.js'
import { createTestDatabase, type TestDatabase } from '../../../store-sql/test/postgres.js'
import { nextMigration } from '../../../store-sql/test/support/next-migration.js'
import { describeOnPostgres } from '../../../store-sql/test/support/on-postgres.js'
import { testMasterKey } from '../../test/master-key.js'
import { getCommands } from '../../test/run-commands.js'
import { serveHttp } from '../../test/serve-http.js'
import { getEvents, testIo } from '../../test/test-io.js'
import type { Io } from '../io.js'
import { runCli } from '../run-cli.js'

const environment = () => getCommands('serve', { PI_PORT: '1' }).env

/** Starts `serve` on a free port, and resolves its first line with a URL. */
async function listening(changes: Partial<Io>, ...args: string[]) {
  const io = testIo(changes)
  const ended = runCli(['serve', '--port', '0', ...args], io)
  const line = await io.line((each) => /listening/i.test(each))
  const stop = async () => {
    io.interrupt()
    expect(await ended).toBe(0)
  }
  return { io, line, stop }
}

const getMode = (path: string) => statSync(path).mode & 0o777

describe('serve', () => {
  it('prints its URL once it answers, and exits with 0 after a signal', async () => {
    const { io, line, stop } = await listening({ env: environment() }, '--json')
    const { url } = JSON.parse(line) as { url: string }
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d{2,5}$/)
    const response = await fetch(`${url}/api/v1/integration/payments`)
    expect([response.status, await response.json()]).toEqual([401, { error: 'Unauthorized' }])
    await stop()
    expect(getEvents(io)).toEqual([{ event: 'listening', url }, { event: 'stopping' }, { event: 'stopped' }])
    await expect(fetch(url)).rejects.toThrow()
  })

  it('prints each variable with its default and meaning under its section, and starts nothing', async () => {
    const [text, json] = [testIo({ env: {} }), testIo({ env: {} })]
    expect(await runCli(['serve', '--variables'], text)).toBe(0)
    expect(text.lines.slice(0, 3)).toEqual(['', 'Required and basic', '  PI_MASTER_KEY  (none)'])
    expect(await runCli(['serve', '--variables', '--json'], json)).toBe(0)
    const [section, doc] = ['Required and basic', 'Port to listen on. 0 takes any free port.']
    expect(getEvents(json)).toContainEqual({ event: 'variable', section, name: 'PI_PORT', default: '4747', doc })
  })

  it('creates a missing database that only this user can read, and reports it once', async () => {
    const { env, path } = getCommands('serve')
    const firstLines: unknown[] = []
    for (let start = 0; start < 2; start += 1) {
      const { io, stop } = await listening({ env })
      if (process.platform !== 'win32')
        for (const name of readdirSync(dirname(path))) expect(getMode(join(dirname(path), name))).toBe(0o600)
      await stop()
      firstLines.push(io.lines[0])
    }
    expect(firstLines).toEqual([`Created a new database: ${path}`, expect.stringMatching(/^Listening/)])
  })

  it('prints text without --json, and logs to standard error', async () => {
    const pages = { PI_CONSOLE: 'on', PI_CONSOLE_URL: 'https://console.example' }
    const { io, line, stop } = await listening({ env: { ...environment(), ...pages } })
    expect(line).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+$/)
    await stop()
    expect(io.lines.at(-1)).toBe('Stopped.')
    const summary = Object.fromEntries(io.lines.flatMap((each) => [/^ {2}(\w+) +(.+)$/.exec(each)?.slice(1) ?? []]))
    expect(summary).toMatchObject({
      API: expect.stringMatching(/\d\/api\/v1$/),
      Chains: expect.stringMatching(/^none/),
      Console: 'https://console.example/console',
      Database: expect.stringMatching(/^sqlite:.*service\.db$/),
    })
    expect(io.lines.some((each) => each.startsWith('{'))).toBe(false)
    expect(io.errors.length).toBeGreaterThan(0)
    for (const logged of io.errors) expect(JSON.parse(logged)).toHaveProperty('level')
  })

  it('logs text to a terminal, without the configuration', async () => {
    const { io, stop } = await listening({ env: environment(), logsToTerminal: true })
    await stop()
    const logged = io.errors.find((line) => line.includes('Listening.'))
    expect(logged).toMatch(/^\d\d:\d\d:\d\d info {2}Listening\. {2}url="http:[^"]+"$/)
    expect(io.errors.join('\n')).not.toContain('{"')
  })

  it('prints the URL of metrics, when they are on', async () => {
    const { line, stop } = await listening({ env: { ...environment(), PI_ADMIN_PORT: '0' } }, '--json')
    const { url, adminUrl } = JSON.parse(line) as Record<string, string>
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain('payment_integration_build_info')
    expect(adminUrl).not.toBe(url)
    await stop()
  })

  it('reports that a port is in use', async () => {
    const { port } = new URL(await serveHttp(() => undefined))
    const io = testIo({ env: { ...environment(), PI_LOG_LEVEL: 'silent' } })
    expect(await runCli(['serve', '--port', port], io)).toBe(1)
    expect(io.errors).toEqual([expect.stringContaining(port)])
  })
})

it('publishes until it is stopped, also while no server of the feed answers', async () => {
  const env = { PI_RPC_URL_1: 'http://127.0.0.1:9', PI_CHAIN_FEED_URL: 'nats://127.0.0.1:9', PI_LOG_LEVEL: 'silent' }
  const io = testIo({ env })
  const running = runCli(['feed', 'publish', '--json'], io)
  await io.line((line) => line.includes('"publishing"'))
  io.interrupt()
  expect(await running).toBe(0)
  expect(getEvents(io)).toEqual([{ event: 'publishing', chainIds: [1] }, { event: 'stopped' }])
})

it('fails with every problem of its configuration', async () => {
  const io = testIo({ env: {} })
  expect(await runCli(['feed', 'publish'], io)).toBe(1)
  expect(io.errors.join('\n')).toMatch(/PI_CHAIN_FEED_URL is not set[\s\S]*No PI_RPC_URL_<chainId> is set/)
})

/** Makes this process a newer release. */
function becomeNext(): void {
  ;(releasedMigrations as Migration[]).push(nextMigration)
}
/** Makes this process the last release again. */
function becomeLast(): void {
  if (releasedMigrations.includes(nextMigration)) (releasedMigrations as Migration[]).pop()
}
afterEach(becomeLast)

const older = 'Processes of older releases fail after this'
const expand = nextMigration.expand.map(({ about }) => about)
const contract = nextMigration.contract.map(({ about }) => about)

it('a SQLite file that serve made needs no step of migrate', async () => {
  const { run, make } = getCommands('migrate')
  await make()
  for (const command of ['plan', 'apply'])
    expect(await run(command)).toMatchObject({ exitCode: 0, lines: ['The schema is up to date.'] })
  const lines = ['Nothing of older releases is left.']
  expect(await run('contract')).toMatchObject({ exitCode: 0, lines })
})

describeOnPostgres('migrate on PostgreSQL', () => {
  let database: TestDatabase
  let env: Record<string, string>
  beforeEach(async () => {
    database = await createTestDatabase()
    env = { PI_DATABASE_URL: database.connectionString }
  })
  afterEach(() => database?.remove())
  const run = (...args: string[]) => getCommands('migrate', env).run(...args)

  it('plan prints the steps and changes nothing, apply runs them, and then there is none', async () => {
    const lines = ['migrate apply runs these steps:', '  200  create all tables']
    for (let times = 0; times < 2; times += 1) expect(await run('plan')).toMatchObject({ exitCode: 1, lines })
    expect(await run('apply')).toMatchObject({
      exitCode: 0,
      lines: ['  200  create all tables: …', '  200  create all tables: done', 'The schema is up to date.'],
    })
    expect(await run('plan')).toMatchObject({ exitCode: 0, lines: ['The schema is up to date.'] })
  })

  it('with --json each step has events', async () => {
    const step = { version: 200, about: 'create all tables', rows: null }
    expect(getEvents((await run('plan', '--json')).io)).toEqual([{ event: 'plan', expand: [step], contract: [] }])
    expect(getEvents((await run('apply', '--json')).io)).toEqual([
      { event: 'step.begun', ...step, share: 0 },
      { event: 'step.done', ...step, share: 1 },
      { event: 'migrated', steps: 1 },
    ])
    expect(getEvents((await run('apply', '--json')).io)).toEqual([{ event: 'migrated', steps: 0 }])
    expect(getEvents((await run('contract', '--json')).io)).toEqual([{ event: 'contracted', steps: 0 }])
  })

  /** Serves until it listens. */
  async function serve(variables: Record<string, string> = {}) {
    const io = testIo({ env: { ...env, PI_MASTER_KEY: testMasterKey, PI_PORT: '0', ...variables } })
    const served = runCli(['serve'], io)
    await Promise.race([io.line((line) => line.startsWith('Listening')), served])
    io.interrupt()
    return { exitCode: await served, err: io.errors.join('\n') }
  }

  it('serve rejects an empty database and names the command, and serves once that ran', async () => {
    const { exitCode, err } = await serve()
    expect(exitCode).toBe(1)
    expect(err).toContain('payment-integration migrate apply')
    const config = readConfig({ ...env, PI_MASTER_KEY: testMasterKey })
    await expect(openService(config)).rejects.toMatchObject({ code: 'ERR_STORE_SCHEMA' })
    await run('apply')
    expect((await serve()).exitCode).toBe(0)
  })

  it('serve migrates by itself with PI_MIGRATE=on', async () => {
    expect((await serve({ PI_MIGRATE: 'on' })).exitCode).toBe(0)
    expect((await run('plan')).exitCode).toBe(0)
  })

  it('a newer release applies its steps, and the last one serves until contract', async () => {
    await run('apply')
    becomeNext()
    expect((await serve()).err).toContain('schema version 200, and this release needs version 201')
    expect((await run('contract', '--yes')).err).toContain('migrate apply')
    const { lines } = await run('plan')
    expect(lines.filter((line) => line.startsWith('  201'))).toHaveLength(expand.length + contract.length)
    expect((await run('apply')).exitCode).toBe(0)
    expect((await run('plan')).exitCode).toBe(0)
    becomeLast()
    expect((await serve()).exitCode).toBe(0)
    becomeNext()
    expect((await run('contract', '--yes')).exitCode).toBe(0)
    becomeLast()
    const { exitCode, err } = await serve()
    expect(exitCode).toBe(1)
    expect(err).toContain('run the newer release')
  })

  it('contract asks on a terminal, and needs --yes elsewhere and with --json', async () => {
    await run('apply')
    becomeNext()
    await run('apply')
    const rejected = await run('contract')
    expect(rejected.exitCode).toBe(2)
    expect(rejected.err).toContain(older)
    const answer = async (text: string, ...options: string[]) => {
      const input = Object.assign(Readable.from([Buffer.from(text)]), { isTTY: true })
      const io = testIo({ env, input: () => input as never, live: {} as never })
      return { exitCode: await runCli(['migrate', 'contract', ...options], io), lines: io.lines }
    }
    expect(await answer('y\n', '--json')).toEqual({ exitCode: 2, lines: [] })
    const no = await answer('n\n')
    expect(no.exitCode).toBe(1)
    expect(no.lines.slice(-1)).toEqual([`${older}. Have all of them stopped? [y/N]`])
    expect((await run('plan')).lines).toContain(`  201  ${contract[1]}`)
    expect((await answer('y\n')).exitCode).toBe(0)
    expect((await run('plan')).lines).toEqual(['The schema is up to date.'])
  })
})
