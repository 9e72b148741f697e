import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { testMasterKey } from './master-key.js'
import { start } from './start-process.js'
import { temporaryFolder } from './temporary-folder.js'

/** Whether a server answers at a URL. */
const answers = (url: string) =>
  fetch(url, { method: 'POST', body: '{}' }).then(
    () => true,
    () => false,
  )

/** Files that the command left. Anvil removes its own, a moment after the command. */
const leftovers = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('payment-integration-'))

interface Ready {
  readonly url: string
  readonly rpcUrl: string
  readonly receiverUrl: string
  readonly folder: string
}

describe('payment-integration dev, as a process', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s stops it with exit code 0 in seconds, without anvil, port or file left',
    async (signal) => {
      const { child, exited, line, lines, errors, folder } = start(['dev', '--json'])
      const ready = JSON.parse(await line('"ready"')) as Ready
      await line('payment.verified')
      expect(await answers(ready.rpcUrl)).toBe(true)
      const portal = await fetch(`${ready.url}/portal`, { redirect: 'manual' })
      expect([portal.status, portal.headers.get('location')]).toEqual([303, expect.stringContaining('/portal/sign-in')])
      expect(existsSync(ready.folder)).toBe(true)
      const startedAt = Date.now()
      child.kill(signal)
      expect([await exited, errors]).toEqual([[0, null], []])
      expect(Date.now() - startedAt).toBeLessThan(10_000)
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'summary', ok: true })
      for (const url of [ready.url, ready.rpcUrl, ready.receiverUrl]) expect(await answers(url)).toBe(false)
      expect(leftovers(folder)).toEqual([])
    },
  )

  it('stops when the reader of its output is gone', async () => {
    const { child, exited, line, folder } = start(['dev', '--json', '--every', '200ms'])
    await line('payment.sent')
    child.stdout?.destroy()
    const [code] = await exited
    expect(code).toBe(0)
    expect(leftovers(folder)).toEqual([])
  })

  it('a second signal makes it exit at once, and its files are removed', async () => {
    const { child, exited, line, folder } = start(['dev', '--json', '--every', '100ms'])
    const ready = JSON.parse(await line('"ready"')) as Ready
    await line('payment.sent')
    child.kill('SIGINT')
    child.kill('SIGTERM')
    expect(await exited).toEqual([1, null])
    expect(leftovers(folder)).toEqual([])
    await expect.poll(() => answers(ready.rpcUrl), { timeout: 300_000 }).toBe(false)
  })

  it.skipIf(process.platform === 'win32')('exits with 1 and reports it when the chain exits', async () => {
    const { child, exited, line, lines, folder } = start(['dev', '--json'])
    await line('payment.verified')
    // Anvil and its guard are the only children, in a process group of their own.
    const guard = Number(execFileSync('pgrep', ['-P', String(child.pid), '-f', 'anvil'], { encoding: 'utf8' }).trim())
    process.kill(-guard, 'SIGKILL')
    expect(await exited).toEqual([1, null])
    const summary = JSON.parse(lines.at(-1) ?? '') as { ok: boolean; reasons: string[] }
    expect(summary.ok).toBe(false)
    expect(summary.reasons.join(' ')).toContain('anvil ended by itself')
    expect(leftovers(folder)).toEqual([])
  })
})

it.each([
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGTERM'],
  ['SIGTERM', 'SIGHUP'],
] as const)('%s and %s at once stop serve as one signal', async (first, second) => {
  const folder = temporaryFolder()
  const env = { PI_DATABASE_URL: `sqlite:${join(folder, 'service.db')}`, PI_MASTER_KEY: testMasterKey }
  const { child, exited, line, lines } = start(['serve', '--json'], env)
  await line('"listening"')
  child.kill(first)
  // A terminal and npm send them a moment apart; the system merges simultaneous ones.
  await delay(5)
  child.kill(second)
  expect(await exited).toEqual([0, null])
  expect(lines.slice(1).map((each) => JSON.parse(each))).toEqual([{ event: 'stopping' }, { event: 'stopped' }])
})
