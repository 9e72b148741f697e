/** Interrupts a command that starts: Ctrl-C also reaches the processes that it started. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testMasterKey } from './master-key.js'
import { temporaryFolder } from './temporary-folder.js'

const root = join(import.meta.dirname, '..', '..', '..')

/** Makes a file as soon as the command listens for signals: it opens a service after that. */
const hook = `data:text/javascript,${encodeURIComponent(`
import { writeFileSync } from 'node:fs'
process.on('newListener', (name) => name === 'SIGHUP' && writeFileSync(process.env.STAGES + '/signals', ''))
`)}`

/**
 * Runs the command in a process group of its own and interrupts all of the group when a file whose name begins with
 * `stage` appears.
 */
async function interruptedAt(stage: string, ...args: readonly string[]) {
  const folder = temporaryFolder()
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  const child = spawn(process.execPath, ['--import', hook, 'tools/scripts/run-source.mjs', ...args], {
    cwd: root,
    detached: true,
    env: {
      ...{ PATH: process.env['PATH'], TMPDIR: temporary, STAGES: folder, PI_PORT: '0', PI_LOG_LEVEL: 'error' },
      ...{ PI_DATABASE_URL: `sqlite:${join(folder, 'service.db')}`, PI_MASTER_KEY: testMasterKey },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const group = -(child.pid ?? 0)
  const isRunning = () => child.exitCode === null && child.signalCode === null
  let isInterrupted = false
  const watchers = [folder, temporary].map((each) =>
    watch(each, (_, name) => {
      if (isInterrupted || !name?.startsWith(stage) || !isRunning()) return
      isInterrupted = true
      process.kill(group, 'SIGINT')
    }),
  )
  onTestFinished(() => {
    for (const watcher of watchers) watcher.close()
    if (isRunning()) process.kill(group, 'SIGKILL')
  })
  const [out, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { isInterrupted, code, signal, errors, out }
}

const clean = { isInterrupted: true, code: 0, signal: null, errors: '' }

// Windows has no process groups.
describe.skipIf(process.platform === 'win32')('Ctrl-C during the start', () => {
  it.each(['signals', 'service.db'])('at %s stops serve with exit code 0 and no error', async (stage) => {
    expect(await interruptedAt(stage, 'serve')).toMatchObject({ ...clean, out: expect.stringMatching(/Stopped\.\n$/) })
  })

  it.each(['signals', 'pi-anvil-'])('at %s stops dev with exit code 0 and no output', async (stage) => {
    expect(await interruptedAt(stage, 'dev')).toEqual({ ...clean, out: '' })
  })

  it('stops another command with exit code 1 and a sentence', async () => {
    expect(await interruptedAt('signals', 'legacy-keys', 'create', '--name', 'Till')).toEqual({
      ...{ ...clean, code: 1 },
      ...{ errors: 'Interrupted; nothing was done.\n', out: '' },
    })
  })
})
