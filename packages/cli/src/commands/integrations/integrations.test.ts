import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testMasterKey } from '../../../test/master-key.js'
import { commandsOf } from '../../../test/run-commands.js'
import { temporaryFolder } from '../../../test/temporary-folder.js'
import { eventsOf, testIo } from '../../../test/test-io.js'
import { runCli } from '../../run-cli.js'

const address = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`

describe('integrations create', () => {
  it('prints both secrets once, with a sentence that says so', async () => {
    const { run } = commandsOf('integrations')
    const { exitCode, out, err } = await run('create', address.toUpperCase().replace('0X', '0x'), '--name', 'Shop')
    expect(err).toBe('')
    expect(exitCode).toBe(0)
    expect(out).toContain(`Created ${address} (Shop).`)
    expect(out).toMatch(/API secret {6}\S{32,}/)
    expect(out).toMatch(/Webhook secret {2}\S{32,}/)
    expect(out).toContain('shown this once and never again')
    const secrets = [...out.matchAll(/secret +(\S{32,})/g)].map(([, secret]) => secret)
    expect(new Set(secrets).size).toBe(2)
    const listed = await run('list')
    for (const secret of secrets) expect(listed.out).not.toContain(secret)
  })

  it('prints one JSON object with --json', async () => {
    const { io } = await commandsOf('integrations').run(
      'create',
      address,
      '--url',
      'https://shop.example/webhook',
      '--json',
    )
    expect(eventsOf(io)).toEqual([
      {
        event: 'integration.created',
        integration: {
          address,
          name: '',
          notificationUrl: 'https://shop.example/webhook',
          enabled: true,
          createdAt: expect.any(Number),
        },
        apiSecret: expect.any(String),
        signingSecret: expect.any(String),
      },
    ])
  })

  it('refuses this machine by http, and names the variable that allows it', async () => {
    const { exitCode, err } = await commandsOf('integrations').run('create', address, '--url', 'http://127.0.0.1:4000')
    expect(exitCode).toBe(2)
    expect(err).toMatch(/must be https/)
    expect(err).toMatch(/PI_ENV=development/)
  })

  it('refuses an address that is taken, with the way out', async () => {
    const { run } = commandsOf('integrations')
    await run('create', address)
    const { exitCode, out, err } = await run('create', address)
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toBe(`Integration ${address} exists already; rotate its secrets instead of creating it again.`)
  })

  it('refuses a plain http URL as misuse', async () => {
    const { exitCode, err } = await commandsOf('integrations').run(
      'create',
      address,
      '--url',
      'http://shop.example/webhook',
    )
    expect(exitCode).toBe(2)
    expect(err).toContain('https')
  })
})

describe('integrations list', () => {
  it('says so when there is none; with --json it prints nothing', async () => {
    const { run, make } = commandsOf('integrations')
    await make()
    expect((await run('list')).out).toContain('There is no integration yet.')
    expect((await run('list', '--json')).lines).toEqual([])
  })

  it('prints one line each', async () => {
    const { run } = commandsOf('integrations')
    await run('create', other, '--url', 'https://shop.example/webhook')
    await run('create', address, '--name', 'Shop')
    expect((await run('list')).lines).toEqual([
      `${address}  enabled   no notifications  Shop`,
      `${other}  enabled   https://shop.example/webhook`,
    ])
    expect(eventsOf((await run('list', '--json')).io)).toHaveLength(2)
  })
})

describe('integrations disable, enable, set-url', () => {
  it('changes what list shows', async () => {
    const { run } = commandsOf('integrations')
    await run('create', address, '--url', 'https://shop.example/webhook')
    expect((await run('disable', address)).out).toContain('disabled')
    expect((await run('list')).out).toContain('disabled')
    expect((await run('enable', address)).out).toContain('enabled')
    expect((await run('set-url', address, 'https://new.example/hook')).out).toContain('https://new.example/hook')
    expect((await run('set-url', address, 'none')).out).toContain('no notifications')
    expect((await run('list')).lines).toEqual([`${address}  enabled   no notifications`])
  })

  it.each([
    ['disable', other],
    ['enable', other],
    ['set-url', other, 'https://new.example/hook'],
    ['rotate-secret', other],
    ['rotate-secret', other, '--signing'],
  ])('%s of an unknown integration ends 1 with a sentence', async (...args) => {
    const { run, make } = commandsOf('integrations')
    await make()
    const { exitCode, err } = await run(...args)
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: `There is no integration ${other}; create it first.` })
  })
})

describe('integrations rotate-secret', () => {
  it('prints a new API secret once and how long the old one lasts', async () => {
    const { run } = commandsOf('integrations')
    const created = eventsOf((await run('create', address, '--json')).io)[0]
    const { out } = await run('rotate-secret', address, '--grace', '90m')
    expect(out).toMatch(/^API secret {2}\S{32,}/)
    expect(out).not.toContain(String(created?.['apiSecret']))
    expect(out).toContain('stays valid for 1.5 h')
    expect((await run('rotate-secret', address)).out).toContain('stays valid for 24 h')
    expect((await run('rotate-secret', address, '--grace', '0s')).out).toContain('ends within a quarter of a second')
  })

  it('prints a new webhook secret with --signing', async () => {
    const { run } = commandsOf('integrations')
    const created = eventsOf((await run('create', address, '--json')).io)[0]
    const rotated = eventsOf((await run('rotate-secret', address, '--signing', '--json')).io)[0]
    expect(rotated).toEqual({ event: 'integration.signing_secret_rotated', address, signingSecret: expect.any(String) })
    expect(rotated?.['signingSecret']).not.toBe(created?.['signingSecret'])
  })
})

describe('a database that is not there', () => {
  it.each([
    ['list'],
    ['disable', address],
    ['enable', address],
    ['set-url', address, 'none'],
    ['rotate-secret', address],
    ['rotate-secret', address, '--signing'],
  ])('%s names the path, ends 1 and makes none', async (...args) => {
    const { run, path } = commandsOf('integrations')
    const { exitCode, out, err } = await run(...args)
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toContain(`There is no database at ${path}.`)
    expect(existsSync(path)).toBe(false)
  })

  it('is made by create, which says so once, with a file that only this user can read', async () => {
    const { run, path } = commandsOf('integrations')
    expect((await run('create', address)).lines[0]).toBe(`Made a new database: ${path}`)
    expect((await run('create', other)).out).not.toContain('new database')
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('a configuration that cannot work', () => {
  it('is answered with every problem at once, and nothing is opened', async () => {
    const io = testIo({ env: { PI_MASTER_KEY: 'short', PI_PORT: 'x', PI_TYPO: '1' } })
    expect(await runCli(['integrations', 'list'], io)).toBe(1)
    const err = io.errors.join('\n')
    expect(err).toContain('The configuration has 3 problems:')
    for (const name of ['PI_MASTER_KEY', 'PI_PORT', 'PI_TYPO']) expect(err).toContain(name)
    expect(err).not.toContain('short')
    expect(io.lines).toEqual([])
  })

  it('names a database that cannot be opened', async () => {
    const url = `sqlite:${join(temporaryFolder(), 'no', 'such', 'folder', 'x.db')}`
    const io = testIo({ env: { PI_MASTER_KEY: testMasterKey } })
    const exitCode = await runCli(['integrations', 'list', '--database', url], io)
    expect([exitCode, io.errors.length > 0]).toEqual([1, true])
    expect(io.errors.join('\n')).not.toContain('    at ')
  })
})
