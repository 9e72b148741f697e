/** Reads answers, files, standard input, and the variables that hold an integrator's secrets. @module */
import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { addAbortSignal, type Readable } from 'node:stream'
import { parseEnv } from 'node:util'
import { parseUrl } from '@payment-integration/contract/internal'
import type { DoctorFramework } from '@payment-integration/testing/doctor'
import type { Command } from 'commander'
import { type Options, parseAddress, parseHttpUrl } from './command.js'
import { InterruptedError, UnusableServerError, UsageError } from './errors.js'
import type { Io } from './io.js'

/** Whether input and output are terminals, so that a person can answer. */
export function canAsk(io: Pick<Io, 'live' | 'input'>): boolean {
  return io.live !== undefined && (io.input() as { readonly isTTY?: boolean }).isTTY === true
}

/** Asks the question. True when the next line is `y` or `yes`; false when the input ends or the signal aborts. */
export async function confirm(question: string, io: Pick<Io, 'input' | 'out' | 'signal'>): Promise<boolean> {
  io.out(`${question} [y/N]`)
  const reader = createInterface({ input: io.input(), signal: io.signal })
  try {
    return await new Promise<boolean>((resolve) => {
      reader.once('line', (line) => resolve(/^\s*y(es)?\s*$/i.test(line)))
      reader.once('close', () => resolve(false))
    })
  } finally {
    reader.close()
  }
}

/**
 * Reads a whole file or standard input. Errors never quote the content: a mistyped path may name a file with secrets.
 * @param source - A path, or `-` for standard input.
 * @throws UsageError `ERR_USAGE` when the source is unreadable or too large; InterruptedError `ERR_INTERRUPTED`.
 */
export async function readInput(source: string, { input, signal }: Pick<Io, 'input' | 'signal'>, maxMiB: number) {
  const name = formatInputName(source)
  const stream = addAbortSignal(signal, source === '-' ? input() : createReadStream(source))
  const bytes = await readAtMost(stream, maxMiB * 1_048_576).catch((error: NodeJS.ErrnoException) => {
    if (signal.aborted) throw new InterruptedError(`${name} was not read: the command was interrupted.`)
    throw toReadError(name, error)
  })
  if (bytes === null) throw new UsageError(`${name} is larger than ${maxMiB} MiB.`)
  return bytes
}

/** The content; null when it is larger than the limit. */
async function readAtMost(stream: Readable, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const toReadError = (name: string, { code }: NodeJS.ErrnoException) =>
  new UsageError(`${name} cannot be read (${code ?? 'unknown error'}).`)

export function formatInputName(source: string): string {
  return source === '-' ? 'Standard input' : `The file ${source}`
}

export type Variables = Readonly<Record<string, string | undefined>>

/** Checks the name of a variable. The error does not quote a rejected text, which may be the secret itself. */
export function checkVariableName(name: string): string {
  if (/^[A-Za-z_]\w{0,127}$/.test(name) && !/whsec_|pi_api_/.test(name)) return name
  throw new UsageError(
    '--secret-env and the like take the name of a variable, not a secret: other users can see arguments.',
  )
}

/** Reads a small file or pipe. @param source - The option or file, named in errors, which never quote the content. */
export async function readSmallFile(path: string, source: string): Promise<string> {
  const bytes = await readAtMost(createReadStream(path), 65_536).catch((error: NodeJS.ErrnoException) => {
    throw toReadError(source, error)
  })
  if (bytes === null) throw new UsageError(`${source} is larger than 64 KiB.`)
  return bytes.toString()
}

/** The variable names that `dev` writes and the examples use. */
export const integratorNames = {
  server: 'PAYMENTS_URL',
  integration: 'INTEGRATION_ADDRESS',
  apiSecret: 'API_SECRET',
} as const

const defaultEnvFile = '.env.local'

/** Merges the variables of the environment and of a file. The environment wins; an empty variable counts as not set. */
export async function readIntegratorVariables(envFile: string | undefined, { env }: Pick<Io, 'env'>) {
  const path = envFile ?? (existsSync(defaultEnvFile) ? defaultEnvFile : undefined)
  const source = envFile === undefined ? defaultEnvFile : '--env-file'
  const fromFile = path === undefined ? {} : parseEnv(await readSmallFile(path, source))
  return withoutEmpty({ ...fromFile, ...withoutEmpty(env) })
}

/** The packages that identify a receiver's framework. Nest comes first: a Nest project may list Express too. */
const frameworkPackages: readonly (readonly [name: string, ...frameworks: DoctorFramework[]])[] = [
  ['@nestjs/core', 'nest'],
  ['next', 'next-app', 'next-pages'],
  ['express', 'express'],
  ['fastify', 'fastify'],
  ['koa', 'koa'],
  ['wrangler', 'worker'],
  ['hono', 'hono'],
  ['@types/aws-lambda', 'lambda'],
]

/** The doctor's names for the framework that `package.json` in the current folder lists; empty: unknown. */
export async function findFrameworks(): Promise<readonly DoctorFramework[]> {
  try {
    const { dependencies, devDependencies } = JSON.parse(await readSmallFile('package.json', 'package.json'))
    const listed: object = { ...dependencies, ...devDependencies }
    return (frameworkPackages.find(([name]) => Object.hasOwn(listed, name))?.slice(1) as DoctorFramework[]) ?? []
  } catch {
    return [] // no Node project
  }
}

function withoutEmpty(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''))
}

export function withIntegrator(command: Command): Command {
  return command
    .option('--server <url>', `the server (${integratorNames.server})`, parseHttpUrl)
    .option('--integration <address>', `the integration (${integratorNames.integration})`, parseAddress)
    .option('--api-secret-env <name>', `variable with the API secret (default ${integratorNames.apiSecret})`)
    .option('--env-file <path>', 'file with these variables (default .env.local)')
}

/** `apiSecretEnv`: the variable that holds the API secret. */
export type IntegratorOptions = Options<'server' | 'integration' | 'apiSecretEnv' | 'envFile', string> & Options<'json'>

export type Integrator = Awaited<ReturnType<typeof readIntegrator>>

/** The server and the credentials that options and variables name. @throws UsageError `ERR_USAGE` */
export async function readIntegrator(options: IntegratorOptions, io: Pick<Io, 'env'>) {
  const { apiSecretEnv = integratorNames.apiSecret } = options
  const variables = await readIntegratorVariables(options.envFile, io)
  return {
    variables,
    server: readServerUrl(options.server ?? variables[integratorNames.server] ?? ''),
    integration: readIntegration(options.integration ?? variables[integratorNames.integration] ?? ''),
    apiSecretEnv,
    apiSecret: readSecret(apiSecretEnv, variables),
  }
}

/** The base URL of the server, to which credentials may be sent: https, or http to this machine. */
function readServerUrl(text: string): URL {
  const server = parseUrl(text)
  if (server === null)
    throw new UsageError(`The server is missing or no URL; pass --server or set ${integratorNames.server}.`)
  const isLoopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(server.hostname)
  if (server.protocol !== 'https:' && !(server.protocol === 'http:' && isLoopback))
    throw new UsageError(
      'The URL of the server must be https, or others could read the credentials; http is only for this machine.',
    )
  if (server.username !== '' || server.password !== '' || server.search !== '' || server.hash !== '')
    throw new UsageError('The URL of the server must have no user, query or fragment.')
  return server
}

/** The URL of a path of the server, and the header that authenticates the integration there. */
export function getEndpoint({ server, integration, apiSecret }: Omit<Integrator, 'variables'>, path: string) {
  const url = new URL(server)
  url.pathname = `${server.pathname.replace(/\/{1,64}$/, '')}${path}`
  return { url, Authorization: `Basic ${Buffer.from(`${integration}:${apiSecret}`).toString('base64')}` }
}

/** The error for an answer 401. */
export function getCredentialsError({ integration, apiSecretEnv }: Omit<Integrator, 'variables'>): UnusableServerError {
  return new UnusableServerError(
    `The server rejects the credentials: check the address ${integration} and the API secret in ${apiSecretEnv}. It is not the signing secret.`,
  )
}

function readIntegration(text: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text.toLowerCase()
  throw new UsageError(
    `The integration is missing or malformed; pass --integration or set ${integratorNames.integration}.`,
  )
}

export function readSecret(name: string, variables: Variables): string {
  const value = variables[checkVariableName(name)]
  if (!value) throw new UsageError(`${name} is not set; put the secret into it.`)
  return value
}

/** Splits a value of several secrets, as during a rotation. Skips empty ones, as after a last comma. */
export const splitSecrets = (value: string) => value.split(',').flatMap((each) => each.trim() || [])
