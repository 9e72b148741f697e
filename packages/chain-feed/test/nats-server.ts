/** Real NATS servers with JetStream for tests, on loopback ports and folders of their own. @module */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** One or several servers, which are one cluster. */
export type TestCluster = Awaited<ReturnType<typeof startNats>>

/** Why there is no server to test with, or null. */
export const natsMissing: string | null =
  spawnSync('nats-server', ['--version']).status === 0
    ? null
    : 'nats-server is not installed: apt-get install nats-server'

/** Starts servers, with further lines of configuration, and waits until each accepts connections. */
export async function startNats({ count = 1, more = '' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'chain-feed-nats-'))
  const ports = await freePorts(2 * count)
  const routes = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`)
  const servers = Array.from({ length: count }, (_, index) => {
    const path = join(folder, `n${index}.conf`)
    const cluster = `cluster { name: feed, listen: "127.0.0.1:${ports[count + index]}", routes: ${JSON.stringify(routes)} }`
    const store = `jetstream { store_dir: ${JSON.stringify(join(folder, `n${index}`))}, max_file: 2GB }`
    const listen = `server_name: n${index}\nlisten: "127.0.0.1:${ports[index]}"`
    writeFileSync(path, [listen, store, count > 1 ? cluster : '', more].join('\n'))
    return createTestNats(path, ports[index] ?? 0)
  })
  await Promise.all(servers.map((server) => server.start()))
  return {
    servers,
    urls: servers.map(({ url }) => url),
    async remove() {
      await Promise.all(servers.map((server) => server.kill()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A server that a test owns. */
function createTestNats(configPath: string, port: number) {
  let running: ChildProcess | null = null
  const abandon = () => running?.kill('SIGKILL')
  return {
    url: `nats://127.0.0.1:${port}`,
    /** Ends it at once, as a lost machine. Its files stay. */
    async kill() {
      const ended = running
      running = null
      process.off('exit', abandon)
      if (ended === null || ended.exitCode !== null) return
      ended.kill('SIGKILL')
      await once(ended, 'exit')
    },
    /** Starts it again, with its files. */
    async start() {
      const started = spawn('nats-server', ['--config', configPath], { stdio: ['ignore', 'ignore', 'pipe'] })
      running = started
      process.once('exit', abandon)
      await new Promise<void>((resolve, reject) => {
        let log = ''
        started.stderr?.on('data', (data: Buffer) => {
          if (log.length < 100_000) log += data.toString()
          if (log.includes('Listening for client connections')) resolve()
        })
        started.once('exit', (code) => reject(new Error(`nats-server ended with ${code}: ${log.slice(-2_000)}`)))
      })
    },
    /** Suspends it, or lets it continue: it answers nothing meanwhile. */
    async suspend(isSuspended: boolean) {
      running?.kill(isSuspended ? 'SIGSTOP' : 'SIGCONT')
      // A thread on another core may still answer until it is told. Systems other than Linux have no such file.
      const path = `/proc/${running?.pid}/stat`
      while (isSuspended && existsSync(path) && !isStopped(readFileSync(path, 'utf8'))) await delay(5)
    },
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

/** Whether the state in a process's `stat`, behind its name in brackets, is stopped. */
function isStopped(stat: string): boolean {
  return stat.slice(stat.lastIndexOf(')')).startsWith(') T')
}
