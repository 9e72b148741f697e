/** A real Redis for tests, on a socket in its own folder. Every write is flushed before its answer. @module */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A server that a test owns. */
export interface TestRedis {
  /** Its socket. */
  readonly path: string
  remove(): Promise<void>
}

/** Why there is no Redis to test with, or null. */
export const redisMissing: string | null =
  spawnSync('redis-server', ['--version']).status === 0
    ? null
    : 'redis-server is not installed: apt-get install redis-server'

/** Starts a server, with further settings, and waits until it answers. */
export async function startRedis(...more: string[]): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'version-store-redis-'))
  const path = join(folder, 'redis.sock')
  const settings = ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  const server = spawn('redis-server', [...settings, '--dir', folder, ...more], { stdio: 'ignore' })
  const ended = once(server, 'exit')
  const abandon = () => server.kill('SIGKILL')
  process.once('exit', abandon)
  while (!(await answers(path))) {
    if (server.exitCode !== null) throw new Error(`redis-server ended at once with ${server.exitCode}.`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return {
    path,
    async remove() {
      process.off('exit', abandon)
      server.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(path: string): Promise<boolean> {
  if (!existsSync(path)) return false
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [data] = (await once(socket, 'data')) as [Buffer]
    return data.toString().startsWith('+PONG')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
