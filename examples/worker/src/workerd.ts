/** Runs the Worker in workerd, the runtime of Cloudflare Workers, on this machine. @module */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A running Worker. */
export interface RunningWorker {
  readonly url: string
  /** Stops the Worker; `SIGKILL` acts like a crash. The objects' storage stays until `remove`. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts the Worker again on the same storage. */
  start(): Promise<void>
  remove(): Promise<void>
}

/** Secrets of the Worker. */
export interface WorkerSecrets {
  /** The webhook signing secret. */
  readonly secret: string
  /** The token that the shop's back end sends as `Authorization: Bearer`. */
  readonly shopToken: string
}

/** Bundles the Worker and starts it on a free port. */
export async function runWorker({ secret, shopToken }: WorkerSecrets): Promise<RunningWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'worker-'))
  await mkdir(join(folder, 'storage'))
  await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    conditions: ['@payment-integration/source', 'workerd', 'worker', 'browser'],
    mainFields: ['module', 'main'],
  })
  await writeFile(join(folder, 'secret.txt'), secret)
  await writeFile(join(folder, 'token.txt'), shopToken)
  await writeFile(join(folder, 'worker.capnp'), config)
  let child: ChildProcess | undefined
  const running = {
    url: '',
    async start() {
      const started = spawn(findWorkerd(), ['serve', 'worker.capnp', '--control-fd=1'], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child = started
      for await (const line of createInterface({ input: started.stdout })) {
        const message = JSON.parse(line) as { event: string; port?: number }
        if (message.event !== 'listen') continue
        running.url = `http://127.0.0.1:${message.port}`
        return
      }
      throw new Error('workerd ended before it listened.')
    },
    async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child?.once('exit', resolve))
      child.kill(signal)
      await ended
    },
    async remove() {
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
  await running.start()
  return running
}

/** Path of the program itself: a signal to npm's wrapper would not reach the program. */
function findWorkerd(): string {
  const require = createRequire(import.meta.url)
  const bin = join(dirname(require.resolve('workerd/package.json')), 'bin', 'workerd')
  return process.platform === 'win32' ? `${bin}.exe` : bin
}

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "storage", disk = (path = "storage", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  bindings = [
    (name = "WEBHOOK_SIGNING_SECRET", text = embed "secret.txt"),
    (name = "SHOP_TOKEN", text = embed "token.txt"),
    (name = "PAYMENTS", durableObjectNamespace = "PaymentObject"),
  ],
  durableObjectNamespaces = [(className = "PaymentObject", uniqueKey = "payments", enableSql = true)],
  durableObjectStorage = (localDisk = "storage"),
);
`
