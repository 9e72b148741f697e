/** Provides a demo run with a port, a folder, a file for its values and the browser. @module */
import { isUtf8 } from 'node:buffer'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { platform } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { DemoError } from '../errors.js'
import { isIgnored } from '../files.js'
import type { Io } from '../io.js'
import type { EnvFileEvent } from './demo-events.js'

type Start = typeof import('@payment-integration/server/service')['startServer']

/** Starts the server. When another program has taken the port and `mayMove` is set, it tries the next free port. */
export async function startOnPort(
  start: Start,
  config: Parameters<Start>[0],
  options: Parameters<Start>[1],
  mayMove: boolean,
): ReturnType<Start> {
  try {
    return await start(config, options)
  } catch (error) {
    if (!mayMove || (error as { code?: unknown }).code !== 'ERR_LISTEN') throw error
    const port = await findFreePort(config.port + 1)
    return startOnPort(start, { ...config, port }, options, mayMove)
  }
}

const maxPorts = 100

/** The first free TCP port of 127.0.0.1 from `first` on. @throws DemoError `ERR_DEMO` when a hundred are taken. */
export async function findFreePort(first: number): Promise<number> {
  const last = Math.min(first + maxPorts - 1, 65_535)
  for (let port = first; port <= last; port += 1) if (await isFree(port)) return port
  throw new DemoError(`Ports from ${first} on are all in use; pass a free one with --port.`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return true
  } catch {
    return false
  }
}

export type Closers = ReturnType<typeof createClosers>

export function createClosers() {
  const pending: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  async function closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (let close = pending.pop(); close; close = pending.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  return {
    add<T>(part: T, close: (part: T) => unknown): T {
      pending.push(() => close(part))
      return part
    },
    /** Closes all parts, newest first, even after a failure; then rejects with the first one. May be called again. */
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}

/** Creates a folder for its owner only. `close` or the end of the process removes it, unless `keep` is set. */
export async function createDemoFolder(io: Pick<Io, 'temporaryFolder' | 'onExit'>, keepsFolder: boolean) {
  const path = await mkdtemp(join(io.temporaryFolder, 'payment-integration-'))
  if (keepsFolder) return { path, close: async () => {} }
  const unregister = io.onExit(() => rmSync(path, { recursive: true, force: true }))
  return {
    path,
    async close() {
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
      unregister()
    },
  }
}

const beginMarker =
  '# Written by payment-integration dev, whose next run replaces this part. Delete it to use values of your own.'
const endMarker = '# End of payment-integration dev.'

/**
 * Writes the values between two marker lines at the end of the file, and keeps all other lines. Writes nothing when
 * another line already sets one of the values: the user set it. Only the owner may read the written file, even where
 * others could before. Throws the error of the file system.
 */
export function writeEnvFile(path: string, values: Readonly<Record<string, string>>): Omit<EnvFileEvent, 'event'> {
  const gitignore = join(dirname(path), '.gitignore')
  const result = { path, ignored: existsSync(gitignore) && isIgnored(readFileSync(gitignore, 'utf8'), basename(path)) }
  const exists = existsSync(path)
  const bytes = exists ? readFileSync(path) : Buffer.alloc(0)
  // Decoding and encoding would damage the file.
  if (!isUtf8(bytes)) return { kind: 'kept', ...result }
  const outside = removeOwnPart(bytes.toString())
  // Frameworks skip a byte order mark; Node's parser would read the mark as part of the first name.
  const otherValues = parseEnv(outside.replace(/^\ufeff/, ''))
  if (Object.keys(values).some((name) => otherValues[name])) return { kind: 'kept', ...result }
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`)
  const before = outside === '' || outside.endsWith('\n') ? outside : `${outside}\n`
  if (exists) chmodSync(path, statSync(path).mode & 0o700)
  writeFileSync(path, `${before}${[beginMarker, ...lines, endMarker].join('\n')}\n`, { mode: 0o600 })
  return { kind: 'written', ...result }
}

/** Removes the part that an earlier run wrote, with LF or CRLF. A part without its end marker stays: it was edited. */
function removeOwnPart(text: string): string {
  const lines = text.split(/(?<=\n)/)
  const from = lines.findIndex((line) => line.trim() === beginMarker)
  const to = lines.findIndex((line, index) => index > from && line.trim() === endMarker)
  return from < 0 || to < 0 ? text : lines.filter((_, index) => index < from || index > to).join('')
}

function findOpener(system: string): readonly [command: string, ...args: string[]] {
  if (system === 'darwin') return ['open']
  // `start` is part of the shell; its first quoted argument is the title of a window.
  if (system === 'win32') return ['cmd', '/c', 'start', '""']
  return ['xdg-open']
}

/** Opens the browser. Resolves with a sentence that names the URL, to open it by hand. Never rejects. */
export function openBrowser(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  system: string = platform(),
): Promise<string> {
  const [command, ...args] = findOpener(system)
  return new Promise((resolve) => {
    const opener = spawn(command, [...args, url], {
      env: { ...env },
      stdio: 'ignore',
      detached: true,
      windowsVerbatimArguments: true,
    })
    opener.once('error', () => resolve(`No ${command} on this machine. Open ${url}`))
    opener.once('spawn', () => {
      // The demo may end before the browser does.
      opener.unref()
      resolve(`Opening ${url}`)
    })
  })
}
