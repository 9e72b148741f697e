/** Finds the runtimes, and runs the programs of `tools/environments/integrator` in them. @module */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { runOrThrow, start } from './child.mjs'

/**
 * @typedef {object} Runtime
 * @property {string} name - With its version.
 * @property {string} kind - `node`, `bun`, `deno`, `workerd` or `chromium`.
 * @property {string | undefined} missing - Why this machine does not have it.
 * @property {(file: string) => [string, string[]]} [command] - Command and arguments that run a file; the file's own
 * arguments follow.
 * @property {Record<string, string>} [env]
 */

/** The Node that runs this. */
export const currentNode = {
  name: `Node ${process.versions.node}`,
  kind: 'node',
  command: (file) => [process.execPath, [file]],
}

/** How long one child may take, in seconds. */
const childSeconds = 90

/**
 * Finds the runtimes.
 * @param {string} folder - The installed copy of `tools/environments/runtimes`.
 * @returns {Runtime[]}
 */
export function findRuntimes(folder) {
  const modules = join(folder, 'node_modules')
  const getVersion = (name) => {
    const manifest = join(modules, name, 'package.json')
    return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version.replace(/^v/, '') : undefined
  }
  const nodes = ['node-20', 'node-22', 'node-24'].map((name) => {
    const path = join(modules, name, 'bin/node')
    return existsSync(path)
      ? { name: `Node ${getVersion(name)}`, kind: 'node', path, command: (file) => [path, [file]] }
      : { name, kind: 'node', missing: 'its npm build is for Linux on x64' }
  })
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const bun = join(modules, `@oven/bun-${platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}/bin/bun`)
  const system = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform]
  const deno = join(modules, `@deno/${system}-${process.arch}${system === 'linux' ? '-glibc' : ''}/deno`)
  const workerd = join(
    modules,
    `@cloudflare/workerd-${system}-${process.arch === 'x64' ? '64' : process.arch}/bin/workerd`,
  )
  const browser = ['chromium', 'chromium-browser', 'google-chrome']
    .flatMap((name) => (process.env['PATH'] ?? '').split(':').map((path) => join(path, name)))
    .find((path) => existsSync(path))
  const locate = (path, runtime) =>
    existsSync(path) ? { ...runtime, path } : { ...runtime, missing: 'it has no npm build for this machine' }
  return [
    ...nodes,
    locate(bun, { name: `Bun ${getVersion('bun')}`, kind: 'bun', command: (file) => [bun, ['run', file]] }),
    locate(deno, {
      name: `Deno ${getVersion('deno')}`,
      kind: 'deno',
      command: (file) => [
        deno,
        ['run', '--allow-all', '--no-lock', '--cached-only', '--node-modules-dir=manual', file],
      ],
      env: { DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' },
    }),
    locate(workerd, { name: `workerd ${getVersion('workerd')}`, kind: 'workerd' }),
    browser
      ? { name: 'Chromium', kind: 'chromium', path: browser }
      : { name: 'Chromium', kind: 'chromium', missing: 'no chromium is on the PATH' },
  ]
}

/**
 * Runs the programs in a runtime that starts files.
 * @param {Runtime} runtime
 * @param {string} folder - The installed copy of `tools/environments/integrator`.
 * @param {'esm' | 'cjs'} format - How the packages are loaded.
 * @param {object} input - The input of the programs.
 * @returns {Promise<Record<string, string[]>>} Verdicts by program.
 */
export async function runFile(runtime, folder, format, input) {
  const file = join(folder, `input-${runtime.kind}-${format}-${Math.random().toString(36).slice(2)}.json`)
  await writeFile(file, JSON.stringify(input))
  const [command, args] = runtime.command('run-programs.mjs')
  const options = { cwd: folder, env: runtime.env, seconds: childSeconds }
  return JSON.parse((await runOrThrow(command, [...args, format, file], options)).trim().split('\n').at(-1))
}

/** Runs the programs in workerd, bundled as a Worker's tools bundle them. */
export async function runWorkerd(runtime, folder, input) {
  const into = join(folder, `worker-${Math.random().toString(36).slice(2)}`)
  await mkdir(into)
  await bundle(folder, 'worker.mjs', join(into, 'worker.js'), ['workerd', 'worker', 'browser'])
  await writeFile(
    join(into, 'worker.capnp'),
    [
      'using Workerd = import "/workerd/workerd.capnp";',
      'const config :Workerd.Config = (',
      // The client calls a service on this machine.
      '  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["public", "private", "local"]))],',
      '  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]',
      ');',
      'const main :Workerd.Worker = (',
      '  modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2026-01-01"',
      ');',
      '',
    ].join('\n'),
  )
  const args = ['serve', join(into, 'worker.capnp'), '--control-fd=1']
  const server = start(runtime.path, args, { cwd: into, seconds: childSeconds })
  try {
    const { port } = JSON.parse(await server.line((line) => line.includes('"listen"'), 20))
    const url = `http://127.0.0.1:${port}`
    const signal = AbortSignal.timeout(childSeconds * 1000)
    const inside = { ...input, programs: input.programs.filter((name) => name !== 'serveRequests') }
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(inside), signal })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`The Worker answered ${answer.status}: ${text.slice(0, 2000)}`)
    // Sent from outside, like the service: workerd's `fetch` aborts a request whose body is not read completely.
    const outside = { programs: ['serveRequests'], endpoint: `${url}/webhook` }
    return { ...JSON.parse(text), ...(await runFile(currentNode, folder, 'esm', outside)) }
  } finally {
    await server.stop()
  }
}

/** Runs the programs in a page of Chromium, bundled for browsers. */
export async function runChromium(runtime, folder, input) {
  const into = join(folder, `page-${Math.random().toString(36).slice(2)}`)
  await mkdir(into)
  const script = await bundle(folder, 'page.mjs', join(into, 'page.js'), ['browser'])
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>')
  })
  // Does not keep the run alive when the browser cannot start.
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve).unref())
  const args = ['--no-sandbox', '--disable-dev-shm-usage']
  const browser = await chromium.launch({ executablePath: runtime.path, args, timeout: 30_000 })
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(childSeconds * 1000)
    const failed = new Promise((_, reject) => page.once('pageerror', reject))
    // A loopback address is a secure context, which WebCrypto requires.
    await Promise.race([failed, page.goto(`http://127.0.0.1:${server.address().port}/`)])
    await Promise.race([failed, page.waitForFunction('globalThis.runPrograms !== undefined')])
    return await page.evaluate((given) => globalThis.runPrograms(given), input)
  } finally {
    await browser.close()
    server.close()
  }
}

async function bundle(folder, entry, outfile, conditions) {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions,
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  await writeFile(outfile, outputFiles[0].text)
  return outputFiles[0].text
}
