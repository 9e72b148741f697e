/** Weighs what an integrator installs and loads, beside other senders' packages. @module */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { round, type Table } from './report.js'
import { peersMissing } from './verification/peers.js'

const runFile = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const peersFolder = fileURLToPath(new URL('./verification/peers/', import.meta.url))

/** A product to weigh: the packages that npm installs for it, and the imports of its bundle. */
interface Product {
  readonly name: string
  /** The folder that the imports are resolved from. */
  readonly from: string
  readonly installed: readonly string[]
  readonly imports: string
}

const packageNames = ['client', 'webhook', 'version-store'].map((name) => `@payment-integration/${name}`)
const products: readonly Product[] = [
  {
    name: 'ours: client, webhook, version-store',
    from: root,
    installed: packageNames,
    imports: packageNames.map((name) => `export * from '${name}'`).join('\n'),
  },
  { name: 'stripe', from: peersFolder, installed: ['stripe'], imports: "export { default } from 'stripe'" },
  { name: 'svix', from: peersFolder, installed: ['svix'], imports: "export * from 'svix'" },
  {
    name: '@octokit/webhooks',
    from: peersFolder,
    installed: ['@octokit/webhooks'],
    imports: "export * from '@octokit/webhooks'",
  },
]

export async function benchWeight(): Promise<Table[]> {
  const columns = ['', 'packages with dependencies', 'installed, kB', 'modules loaded', 'bundle, gzip, kB']
  if (!existsSync(join(root, 'packages/client/dist')))
    return [{ title: 'Weight', columns, rows: [], notes: ['Not measured: run npm run build first.'] }]
  const missing = peersMissing(peersFolder)
  const rows = []
  for (const product of products.filter(({ from }) => from === root || missing === null)) {
    const packages = await findPackages(product)
    const sizes = await Promise.all([...packages].map(countInstalledBytes))
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
    const { modules, gzipped } = await measureBundle(product)
    rows.push([product.name, packages.size, round(total / 1_000), modules, round(gzipped / 1_000)])
  }
  return [{ title: 'Weight', columns, rows, notes: missing === null ? [] : [missing] }]
}

/** The folder of every package that npm installs, without optional peers. */
async function findPackages({ from, installed }: Product): Promise<ReadonlySet<string>> {
  const folders = new Set<string>()
  const locate = (name: string, user: string) => {
    const nested = join(user, 'node_modules', name)
    return existsSync(nested) ? nested : join(from, 'node_modules', name)
  }
  const unvisited = installed.map((name) => locate(name, from))
  for (let folder = unvisited.pop(); folder !== undefined; folder = unvisited.pop()) {
    if (folders.has(folder)) continue
    folders.add(folder)
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    for (const name of Object.keys(manifest.dependencies ?? {})) unvisited.push(locate(name, folder))
  }
  return folders
}

/** Bytes of the files that npm installs. A package of the workspace also has files that it does not publish. */
async function countInstalledBytes(folder: string): Promise<number> {
  if (!folder.includes('@payment-integration')) return countBytes(folder)
  const { stdout } = await runFile('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: folder })
  return JSON.parse(stdout)[0].unpackedSize
}

async function countBytes(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !relative(folder, entry.parentPath).split(sep).includes('node_modules'))
      bytes += (await stat(join(entry.parentPath, entry.name))).size
  return bytes
}

/** Counts the modules of a Node bundle of all exports, and its gzipped bytes. */
async function measureBundle({ from, imports }: Product): Promise<{ modules: number; gzipped: number }> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: imports, resolveDir: from },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    write: false,
    metafile: true,
    logLevel: 'error',
  })
  const modules = Object.keys(metafile.inputs).length - 1
  return { modules, gzipped: gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length }
}
