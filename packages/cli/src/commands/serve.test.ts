import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testMasterKey } from '../../test/master-key.js'
import { serveHttp } from '../../test/serve-http.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

const environment = () => ({
  PI_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'service.db')}`,
  PI_MASTER_KEY: testMasterKey,
  PI_PORT: '1',
})

const getMode = (path: string) => statSync(path).mode & 0o777

describe('serve', () => {
  it('prints its URL once it answers, and exits with 0 after a signal', async () => {
    const io = testIo({ env: environment() })
    const ended = runCli(['serve', '--port', '0', '--json'], io)
    const { url } = JSON.parse(await io.line((line) => line.includes('listening'))) as { url: string }
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d{2,5}$/)
    const response = await fetch(`${url}/api/v1/integration/payments`)
    expect([response.status, await response.json()]).toEqual([401, { error: 'Unauthorized' }])
    io.interrupt()
    expect(await ended).toBe(0)
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
    const path = join(temporaryFolder(), 'service.db')
    const env = { ...environment(), PI_DATABASE_URL: `sqlite:${path}` }
    const firstLines: unknown[] = []
    for (let start = 0; start < 2; start += 1) {
      const io = testIo({ env })
      const ended = runCli(['serve', '--port', '0'], io)
      await io.line((line) => line.startsWith('Listening'))
      if (process.platform !== 'win32')
        for (const name of readdirSync(dirname(path))) expect(getMode(join(dirname(path), name))).toBe(0o600)
      io.interrupt()
      expect(await ended).toBe(0)
      firstLines.push(io.lines[0])
    }
    expect(firstLines).toEqual([`Created a new database: ${path}`, expect.stringMatching(/^Listening/)])
  })

  it('prints text without --json, and logs to standard error', async () => {
    const pages = { PI_CONSOLE: 'on', PI_CONSOLE_URL: 'https://console.example' }
    const io = testIo({ env: { ...environment(), ...pages } })
    const ended = runCli(['serve', '--port', '0'], io)
    expect(await io.line((line) => line.startsWith('Listening'))).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+$/)
    io.interrupt()
    expect(await ended).toBe(0)
    expect(io.lines.at(-1)).toBe('Stopped.')
    const summary = Object.fromEntries(io.lines.flatMap((line) => [/^ {2}(\w+) +(.+)$/.exec(line)?.slice(1) ?? []]))
    expect(summary).toMatchObject({
      API: expect.stringMatching(/\d\/api\/v1$/),
      Chains: expect.stringMatching(/^none/),
      Console: 'https://console.example/console',
    })
    expect(summary['Database']).toMatch(/^sqlite:.*service\.db$/)
    expect(io.lines.some((line) => line.startsWith('{'))).toBe(false)
    expect(io.errors.length).toBeGreaterThan(0)
    for (const line of io.errors) expect(JSON.parse(line)).toHaveProperty('level')
  })

  it('logs text to a terminal, without the configuration', async () => {
    const io = testIo({ env: environment(), logsToTerminal: true })
    const ended = runCli(['serve', '--port', '0'], io)
    await io.line((line) => line.startsWith('Listening'))
    io.interrupt()
    expect(await ended).toBe(0)
    const listening = io.errors.find((line) => line.includes('Listening.'))
    expect(listening).toMatch(/^\d\d:\d\d:\d\d info {2}Listening\. {2}url="http:[^"]+"$/)
    expect(io.errors.join('\n')).not.toContain('{"')
  })

  it('prints the URL of metrics, when they are on', async () => {
    const io = testIo({ env: { ...environment(), PI_ADMIN_PORT: '0' } })
    const ended = runCli(['serve', '--port', '0', '--json'], io)
    const { url, adminUrl } = JSON.parse(await io.line((line) => line.includes('listening'))) as Record<string, string>
    expect([await (await fetch(`${adminUrl}/metrics`)).text(), adminUrl === url]).toEqual([
      expect.stringContaining('payment_integration_build_info'),
      false,
    ])
    io.interrupt()
    expect(await ended).toBe(0)
  })

  it('reports that a port is in use', async () => {
    const { port } = new URL(await serveHttp(() => undefined))
    const io = testIo({ env: { ...environment(), PI_LOG_LEVEL: 'silent' } })
    expect(await runCli(['serve', '--port', port], io)).toBe(1)
    expect(io.errors).toEqual([expect.stringContaining(port)])
  })
})
