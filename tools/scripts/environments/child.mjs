/** Runs child processes that may hang or leave grandchildren behind. @module */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Process groups that still run. */
const groups = new Set()

/**
 * A running program that leads its own process group.
 * @typedef {object} Running
 * @property {Promise<Ended>} ended - Resolves when the program has ended; never rejects.
 * @property {(wanted: (line: string) => boolean, seconds: number) => Promise<string>} line - The first wanted line of
 * standard output, printed before or after the call. Rejects with an Error when the program ends first, or the time is
 * over.
 * @property {() => Promise<void>} stop - Ends the program and all processes that it started.
 */

/** How a program ended. @typedef {{ code: number | null, stdout: string, stderr: string, timedOut: boolean }} Ended */

/**
 * Starts a program without standard input.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ seconds: number, cwd?: string, env?: Record<string, string | undefined> }} options - `seconds`: how long it
 * may run.
 * @returns {Running}
 */
export function start(command, args, { seconds, cwd, env }) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  groups.add(child)
  let stdout = ''
  let stderr = ''
  let timedOut = false
  const lines = []
  const waiting = new Set()
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    for (const onLine of waiting) onLine(line)
  })
  const timer = setTimeout(() => {
    timedOut = true
    kill(child)
  }, seconds * 1000)
  const ended = new Promise((resolve) => {
    const finish = (code) => {
      clearTimeout(timer)
      kill(child)
      groups.delete(child)
      resolve({ code, stdout, stderr, timedOut })
    }
    child.once('error', (error) => {
      stderr += error.message
      finish(null)
    })
    // A grandchild may keep the pipes open after the program exits.
    child.once('exit', () => kill(child))
    child.once('close', finish)
  })
  return {
    ended,
    line(wanted, within) {
      const earlier = lines.find(wanted)
      if (earlier !== undefined) return Promise.resolve(earlier)
      return new Promise((resolve, reject) => {
        const settle = (act, value) => {
          clearTimeout(limit)
          waiting.delete(onLine)
          act(value)
        }
        const onLine = (line) => wanted(line) && settle(resolve, line)
        const limit = setTimeout(
          () => settle(reject, new Error(`${command} did not print the awaited line within ${within} s.`)),
          within * 1000,
        )
        waiting.add(onLine)
        void ended.then(({ code }) =>
          settle(reject, new Error(`${command} ended with ${code} too early: ${lastLines(stdout + stderr)}`)),
        )
      })
    },
    async stop() {
      kill(child)
      await ended
    },
  }
}

/**
 * Runs a program until it exits.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Parameters<typeof start>[2]} options
 * @returns {Promise<Ended>}
 */
export function run(command, args, options) {
  return start(command, args, options).ended
}

/**
 * Runs a program that must succeed.
 * @returns {Promise<string>} Its output.
 * @throws {Error} With its last lines, when its exit code is not 0 or its time is over.
 */
export async function runOrThrow(command, args, options) {
  const { code, stdout, stderr, timedOut } = await run(command, args, options)
  if (code === 0) return stdout
  const how = timedOut ? `was ended after ${options.seconds} s` : `ended with ${code}`
  throw new Error(`${command} ${args.join(' ').slice(0, 200)} ${how}:\n${lastLines(stdout + stderr)}`)
}

/** The last lines of a text, which explain a failure. */
export function lastLines(text, count = 25) {
  return text.trimEnd().split('\n').slice(-count).join('\n')
}

/** Ends a program with its whole group. */
function kill(child) {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

function killAll() {
  for (const child of groups) kill(child)
}
process.once('exit', killAll)
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
])
  process.once(signal, () => {
    killAll()
    process.exit(128 + number)
  })
