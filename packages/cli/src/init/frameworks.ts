/** Lists the frameworks of `init`: their packages, databases and the step that only the integrator can do. @module */

/** The names that `init` takes. */
export const frameworkNames = ['express', 'fastify', 'hono', 'next', 'nest', 'koa', 'worker', 'lambda', 'node'] as const

/** One of {@link frameworkNames}. */
export type FrameworkName = (typeof frameworkNames)[number]

/** Where versions and payments are stored. */
export type DatabaseName = 'sqlite' | 'postgres'

/** The properties of a framework. */
export interface Framework {
  /** The word in sentences. */
  readonly title: string
  /** Packages that the project must have already. */
  readonly needs: readonly string[]
  /** The databases that fit; the first is the default. None: the platform stores the versions itself. */
  readonly databases: readonly DatabaseName[]
  /** Whether the project gets a program that serves only the webhook. */
  readonly servesAlone: boolean
  /** Whether the webhook has a path in the code. A Lambda function answers at every path. */
  readonly hasPath: boolean
  /** How the app takes up the webhook. `folder` is the folder of the written code. */
  mount(folder: string): string
}

const either = ['sqlite', 'postgres'] as const

/** All frameworks. */
export const frameworks: Readonly<Record<FrameworkName, Framework>> = {
  express: {
    ...{ title: 'Express', needs: ['express'], databases: either, servesAlone: true, hasPath: true },
    mount: (folder) =>
      `In your app, above express.json(): app.use(paymentWebhook(openReceiver(process.env).receive)), from ${folder}/.`,
  },
  fastify: {
    ...{ title: 'Fastify', needs: ['fastify'], databases: either, servesAlone: true, hasPath: true },
    mount: (folder) =>
      `In your app: await app.register(paymentWebhook, { receive: openReceiver(process.env).receive }), from ${folder}/.`,
  },
  hono: {
    ...{ title: 'Hono', needs: ['hono'], databases: either, servesAlone: true, hasPath: true },
    mount: (folder) =>
      `In your app, above other middleware: app.route('/', paymentWebhook(openReceiver(process.env).receive)), from ${folder}/.`,
  },
  next: {
    ...{ title: 'Next', needs: ['next'], databases: either, servesAlone: false, hasPath: true },
    mount: () => 'Start your app, or restart it: Next serves the new route.',
  },
  nest: {
    ...{ title: 'Nest', needs: ['@nestjs/core', '@nestjs/common', '@nestjs/platform-express', 'reflect-metadata'] },
    ...{ databases: either, servesAlone: true, hasPath: true },
    mount: (folder) =>
      `In your main file, before app.listen: usePaymentWebhook(app, openReceiver(process.env).receive), from ${folder}/.`,
  },
  koa: {
    ...{ title: 'Koa', needs: ['koa'], databases: either, servesAlone: true, hasPath: true },
    mount: (folder) =>
      `In your app, above any body parser: app.use(paymentWebhook(openReceiver(process.env).receive)), from ${folder}/.`,
  },
  worker: {
    ...{ title: 'Cloudflare Workers', needs: [], databases: [], servesAlone: false, hasPath: true },
    mount: (folder) =>
      `Run it: npx wrangler dev --port 3000, which reads .env.local. In production: npx wrangler secret put WEBHOOK_SIGNING_SECRET. A Worker of your own calls webhook of ${folder}/worker, and exports PaymentObject.`,
  },
  lambda: {
    // The file system of a function is not kept.
    ...{ title: 'AWS Lambda', needs: [], databases: ['postgres'], servesAlone: false, hasPath: false },
    mount: (folder) => `Bundle ${folder}/handler, set it as the handler of the function, and set the variables there.`,
  },
  node: {
    ...{ title: 'node:http', needs: [], databases: either, servesAlone: true, hasPath: true },
    mount: (folder) =>
      `In your server, for the path of the webhook: paymentWebhook(openReceiver(process.env).receive), from ${folder}/.`,
  },
}
