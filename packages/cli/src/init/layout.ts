/** The frameworks that `init` knows, with the files, packages and scripts of each. @module */
import { InitError, UsageError } from '../errors.js'
import type { ManifestAdditions, Project } from './project.js'

export const frameworkNames = ['express', 'fastify', 'hono', 'next', 'nest', 'koa', 'worker', 'lambda', 'node'] as const

export type FrameworkName = (typeof frameworkNames)[number]

export type DatabaseName = 'sqlite' | 'postgres'

interface Framework {
  readonly title: string
  /** Packages that the project must already have. */
  readonly needs: readonly string[]
  /** The supported databases; the first is the default. Empty: the platform stores the versions. */
  readonly databases: readonly DatabaseName[]
  /** Whether the project gets a program that serves only the webhook. */
  readonly servesAlone: boolean
}

const bothDatabases = ['sqlite', 'postgres'] as const

export const frameworks: Readonly<Record<FrameworkName, Framework>> = {
  express: { title: 'Express', needs: ['express'], databases: bothDatabases, servesAlone: true },
  fastify: { title: 'Fastify', needs: ['fastify'], databases: bothDatabases, servesAlone: true },
  hono: { title: 'Hono', needs: ['hono'], databases: bothDatabases, servesAlone: true },
  next: { title: 'Next', needs: ['next'], databases: bothDatabases, servesAlone: false },
  nest: {
    title: 'Nest',
    needs: ['@nestjs/core', '@nestjs/common', '@nestjs/platform-express', 'reflect-metadata'],
    databases: bothDatabases,
    servesAlone: true,
  },
  koa: { title: 'Koa', needs: ['koa'], databases: bothDatabases, servesAlone: true },
  worker: { title: 'Cloudflare Workers', needs: [], databases: [], servesAlone: false },
  // A serverless function has no lasting file system.
  lambda: { title: 'AWS Lambda', needs: [], databases: ['postgres'], servesAlone: false },
  node: { title: 'node:http', needs: [], databases: bothDatabases, servesAlone: true },
}

/** The line that mounts the webhook in the app. `folder` is the folder of the written code. */
export const mountLines: Readonly<Record<FrameworkName, (folder: string) => string>> = {
  express: (folder) =>
    `In your app, above express.json(): app.use(paymentWebhook(openReceiver(process.env).receive)), from ${folder}/.`,
  fastify: (folder) =>
    `In your app: await app.register(paymentWebhook, { receive: openReceiver(process.env).receive }), from ${folder}/.`,
  hono: (folder) =>
    `In your app, above other middleware: app.route('/', paymentWebhook(openReceiver(process.env).receive)), from ${folder}/.`,
  next: () => 'Start your app, or restart it: Next serves the new route.',
  nest: (folder) =>
    `In your main file, before app.listen: usePaymentWebhook(app, openReceiver(process.env).receive), from ${folder}/.`,
  koa: (folder) =>
    `In your app, above any body parser: app.use(paymentWebhook(openReceiver(process.env).receive)), from ${folder}/.`,
  worker: (folder) =>
    `Run it: npx wrangler dev --port 3000, which reads .env.local. In production: npx wrangler secret put WEBHOOK_SIGNING_SECRET. If you have a Worker already, call webhook of ${folder}/worker in it, and export PaymentObject.`,
  lambda: (folder) => `Bundle ${folder}/handler, set it as the handler of the function, and set the variables there.`,
  node: (folder) =>
    `In your server, for the path of the webhook: paymentWebhook(openReceiver(process.env).receive), from ${folder}/.`,
}

interface TemplateFile {
  readonly path: string
  readonly template: string
  /** Whether an existing file that differs from the template may stay as it is. */
  readonly accepts?: (text: string) => boolean
}

export type Layout = ReturnType<typeof chooseLayout>

/** Chooses paths, templates, packages and scripts. @throws UsageError or InitError when the project does not fit. */
export function chooseLayout(
  project: Project,
  { framework, path: given }: { readonly framework: FrameworkName; readonly path?: string | undefined },
  database: DatabaseName | null,
) {
  const { servesAlone, title } = frameworks[framework]
  if (given !== undefined && framework === 'lambda')
    throw new UsageError(`${title} answers at every path; omit --path.`)
  if (given !== undefined && (given.length > 200 || !/^(\/[A-Za-z0-9_-]+)+$/.test(given)))
    throw new UsageError('--path takes segments of letters, digits, - and _, such as /webhook.')
  /** The folder of the code, such as `src/payments`. */
  const folder = `${project.source}payments`
  const { extension } = project
  const code = (name: string, template: string): TemplateFile => ({ path: `${folder}/${name}.${extension}`, template })
  const router = framework === 'next' ? findRouter(project, given) : null
  const path = given ?? router?.path ?? '/webhook'
  const hasOwnTest = framework === 'worker' || framework === 'lambda' || router?.kind === 'app'
  const webhook = router?.kind === 'pages' ? 'next/pages-webhook' : `${framework}/webhook`

  const files: TemplateFile[] = [
    ...(framework === 'worker'
      ? [code('worker', 'worker/worker'), code('payment-object', 'worker/payment-object'), wranglerFile(project)]
      : [code('webhook', webhook)]),
    ...(framework === 'lambda' ? [code('handler', 'lambda/handler')] : []),
    ...(router === null ? [] : [{ path: `${router.file}.${extension}`, template: router.template }]),
    ...(servesAlone ? [code('main', 'shared/main')] : []),
    ...(database === null
      ? []
      : [
          code('receiver', `shared/receiver.${database}`),
          code('migrate', `shared/migrate.${database}`),
          { path: `${folder}/tables.sql`, template: `shared/tables.${database}.sql` },
        ]),
    ...(framework === 'next' && database === 'sqlite' ? [nextConfig(project)] : []),
    code('webhook.test', hasOwnTest ? `${framework}/webhook-test` : 'shared/webhook-test'),
  ]
  return { folder, path, files, manifest: listAdditions(project, framework, database, folder) }
}

/** Chooses the router as Next does: `app` before `src/app`, and `pages` before `src/pages`. */
function findRouter({ entries, sourceEntries }: Project, given: string | undefined) {
  const has = (name: string) => entries.has(name) || sourceEntries.has(name)
  const at = (name: string) => (entries.has(name) ? name : `src/${name}`)
  if (has('app')) {
    const path = given ?? '/webhook'
    return { kind: 'app' as const, path, file: `${at('app')}${path}/route`, template: 'next/route' }
  }
  if (!has('pages')) throw new InitError('The project has neither app/ nor pages/; create one of them first.')
  const path = given ?? '/api/webhook'
  if (!path.startsWith('/api/'))
    throw new UsageError('The pages router serves APIs below /api; pass --path /api/webhook.')
  return { kind: 'pages' as const, path, file: `${at('pages')}${path}`, template: 'next/pages-api' }
}

/** An existing configuration is kept, and must declare the class of the Durable Objects. */
function wranglerFile({ entries }: Project): TemplateFile {
  const path = ['wrangler.toml', 'wrangler.jsonc', 'wrangler.json'].find((name) => entries.has(name))
  const accepts = (text: string) => text.includes('PaymentObject') && text.includes('PAYMENTS')
  return { path: path ?? 'wrangler.toml', template: 'worker/wrangler.toml', accepts }
}

/** An existing configuration is kept, and must exclude the native SQLite module from the bundle. */
function nextConfig({ entries }: Project): TemplateFile {
  const path = ['next.config.mjs', 'next.config.js', 'next.config.ts'].find((name) => entries.has(name))
  const accepts = (text: string) => text.includes('@photostructure/sqlite')
  return { path: path ?? 'next.config.mjs', template: 'next/next.config.mjs', accepts }
}

function listAdditions(
  { isTypeScript, extension, testRunner }: Project,
  framework: FrameworkName,
  database: DatabaseName | null,
  folder: string,
): ManifestAdditions {
  const runtime = isTypeScript ? 'tsx' : 'node'
  const test = `${folder}/webhook.test.${extension}`
  const tests = { 'node:test': `${runtime} --test ${test}`, vitest: `vitest run ${test}`, jest: `jest ${test}` }
  const runsTypeScript = isTypeScript && (database !== null || testRunner === 'node:test')
  return {
    dependencies: [
      '@payment-integration/version-store',
      '@payment-integration/webhook',
      ...(database === 'sqlite' ? ['@photostructure/sqlite'] : []),
      ...(database === 'postgres' ? ['pg'] : []),
      ...(framework === 'hono' ? ['@hono/node-server'] : []),
    ],
    devDependencies: [
      '@payment-integration/testing',
      ...(isTypeScript ? ['@types/node'] : []),
      ...(isTypeScript && database === 'postgres' ? ['@types/pg'] : []),
      ...(runsTypeScript ? ['tsx'] : []),
    ],
    scripts: {
      ...(frameworks[framework].servesAlone && {
        payments: `${runtime} --env-file=.env.local ${folder}/main.${extension}`,
      }),
      ...(database !== null && {
        'payments:migrate': `${runtime} --env-file=.env.local ${folder}/migrate.${extension} ${folder}/tables.sql`,
      }),
      'payments:test': tests[testRunner],
    },
  }
}
