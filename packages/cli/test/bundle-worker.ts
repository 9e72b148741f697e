/** Bundles a generated Worker, with a configuration for workerd. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** Writes `bundle/` into the project. */
export async function bundleWorker(folder: string, secret: string): Promise<void> {
  const into = join(folder, 'bundle')
  mkdirSync(join(into, 'storage'), { recursive: true })
  await build({
    entryPoints: [join(folder, 'payments', 'worker')],
    outfile: join(into, 'worker.js'),
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    conditions: ['@payment-integration/source', 'workerd', 'worker', 'browser'],
    mainFields: ['module', 'main'],
  })
  writeFileSync(join(into, 'secret.txt'), secret)
  writeFileSync(join(into, 'worker.capnp'), config)
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
    (name = "PAYMENTS", durableObjectNamespace = "PaymentObject"),
  ],
  durableObjectNamespaces = [(className = "PaymentObject", uniqueKey = "payments", enableSql = true)],
  durableObjectStorage = (localDisk = "storage"),
);
`
