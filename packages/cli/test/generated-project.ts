/** Projects that `init` wrote a receiver into: makes them, runs their scripts, and starts them as processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { createTestDatabase } from '../../store-sql/test/postgres.js'
import type { FrameworkName } from '../src/init/layout.js'
import { runCli } from '../src/run-cli.js'
import { bundleWorker } from './bundle-worker.js'
import { testIo } from './test-io.js'
import { type ProjectOptions, writeProject } from './write-project.js'

const root = join(import.meta.dirname, '../../..')

/** Makes a project that resolves the packages of this workspace, and runs `init` in it. */
async function generate(framework: FrameworkName, options: ProjectOptions = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `payment-integration-init-${framework}-`))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeProject(folder, framework, options)
  const io = testIo()
  const database = options.database === undefined ? [] : ['--database', options.database]
  const exitCode = await runCli(['init', framework, '--dir', folder, ...database, '--yes'], io)
  if (exitCode !== 0) throw new Error(`init ended with ${exitCode}:\n${[...io.errors, ...io.lines].join('\n')}`)
  return folder
}

/** The scripts of the project run the sources of this workspace, which are TypeScript. */
const getEnvironment = (folder: string) => ({
  ...{ PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`, HOME: folder, PORT: '0' },
  NODE_OPTIONS: '--conditions=@payment-integration/source --import tsx',
})

/** Runs a script of the project's `package.json`, as npm does. Resolves the exit code and the output. */
export async function runScript(folder: string, name: string): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn('sh', ['-c', writeScript(folder, name)], { cwd: folder, env: getEnvironment(folder) })
  const [out, err, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { exitCode: exitCode as number | null, output: out + err }
}

function writeScript(folder: string, name: string): string {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return scripts[name]
}

/** A generated receiver that runs. */
export interface GeneratedReceiver {
  /** The URL of its webhook. */
  readonly url: string
  readonly secret: string
  /** The address of its integration. */
  readonly address: string
  readonly folder: string
  /** Where it stores payments: `sqlite:<path>` or `postgres://…`; null for a Worker. */
  readonly databaseUrl: string | null
  /** Stops it, and removes its project and its database. */
  close(): Promise<void>
}

/** Generates a receiver for the framework, creates its tables by its own script, and starts it on a free port. */
export async function startGenerated(
  framework: FrameworkName,
  options: ProjectOptions = {},
): Promise<GeneratedReceiver> {
  const folder = await generate(framework, options)
  const isPostgres = framework === 'lambda' || options.database === 'postgres'
  const postgres = isPostgres ? await createTestDatabase() : null
  const databaseUrl = framework === 'worker' ? null : (postgres?.connectionString ?? 'sqlite:payments.db')
  const secret = `whsec_of_${framework}`
  const address = `0x${'a1'.repeat(20)}`
  const values: Record<string, string> = {
    INTEGRATION_ADDRESS: address,
    API_SECRET: 'secret_of_the_api',
    WEBHOOK_SIGNING_SECRET: secret,
    PAYMENTS_URL: 'http://127.0.0.1:1',
    DATABASE_URL: databaseUrl ?? '',
  }
  // As the user does: a copy of the example, with values.
  const example = readFileSync(join(folder, '.env.example'), 'utf8')
  const filled = example.replace(/^(\w+)=.*$/gm, (_, name) => `${name}=${values[name]}`)
  writeFileSync(join(folder, '.env.local'), filled)

  let child: ChildProcess | undefined
  async function close() {
    if (child && child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    await postgres?.remove()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    if (databaseUrl !== null) {
      const { exitCode, output } = await runScript(folder, 'payments:migrate')
      if (exitCode !== 0) throw new Error(`payments:migrate ended with ${exitCode}:\n${output}`)
    }
    const started =
      framework === 'worker' ? await startWorker(folder, secret) : startProcess(framework, folder, options)
    child = started
    const url = await getUrl(started)
    return { url, secret, address, folder, databaseUrl: absolute(databaseUrl, folder), close }
  } catch (error) {
    await close()
    throw error
  }
}

function absolute(databaseUrl: string | null, folder: string): string | null {
  return databaseUrl?.replace(/^sqlite:/, `sqlite:${folder}/`) ?? null
}

/** The program that the project has for it, or a host that passes requests on as the platform does. */
function startProcess(framework: FrameworkName, folder: string, { language = 'ts', router = 'app' }: ProjectOptions) {
  const isApp = router === 'app'
  const entries: Partial<Record<FrameworkName, [kind: string, entry: string]>> = {
    lambda: ['lambda', `payments/handler.${language}`],
    next: [`next-${router}`, `${isApp ? 'app/webhook/route' : 'pages/api/webhook'}.${language}`],
  }
  const entry = entries[framework]
  const env = getEnvironment(folder)
  if (entry === undefined) {
    // Without a shell around it the process itself gets the signal.
    const [, ...args] = writeScript(folder, 'payments').split(' ')
    return spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  }
  const host = join(import.meta.dirname, 'platform-host.ts')
  const args = ['--env-file=.env.local', host, entry[0], join(folder, entry[1])]
  return spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function startWorker(folder: string, secret: string) {
  await bundleWorker(folder, secret)
  const workerd = join(dirname(createRequire(import.meta.url).resolve('workerd/package.json')), 'bin', 'workerd')
  const args = ['serve', 'worker.capnp', '--control-fd=1']
  return spawn(workerd, args, { cwd: join(folder, 'bundle'), stdio: ['ignore', 'pipe', 'pipe'] })
}

/** The URL that the process prints; a Worker's runtime reports only its port. */
async function getUrl(child: ChildProcess): Promise<string> {
  const output: string[] = []
  child.stderr?.on('data', (text) => output.push(String(text)))
  if (child.stdout)
    for await (const line of createInterface({ input: child.stdout })) {
      output.push(line)
      const [url] = /http:\/\/127\.0\.0\.1:\d+\S*/.exec(line) ?? []
      if (url !== undefined) return url
      const [, port] = /"event":"listen".*"port":(\d+)/.exec(line) ?? []
      if (port !== undefined) return `http://127.0.0.1:${port}/webhook`
    }
  throw new Error(`The receiver ended before it listened:\n${output.join('\n')}`)
}
