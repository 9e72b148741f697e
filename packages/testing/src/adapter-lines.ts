/** The line that mounts the adapter of each framework, as the guide to frameworks has it. @module */

/** Each adapter reads the raw bytes itself, and must come before any parser. */
export const adapterLines = {
  express: "app.all('/webhook', createExpressHandler({ receive })) // above app.use(express.json())",
  fastify: "app.register(fastifyReceiver, { url: '/webhook', receive })",
  hono: "app.all('/webhook', createHonoHandler({ receive })) // above middleware that reads bodies",
  'next-app': 'export const POST = createNextRoute({ receive }) // app/webhook/route.ts, without request.json() before',
  'next-pages':
    'export default createNextApi({ receive }) // pages/api/webhook.ts, with export const config = { api: { bodyParser: false } }',
  nest: "app.use('/webhook', createNestHandler({ receive })) // in a controller: NestFactory.create(AppModule, { rawBody: true })",
  koa: "app.use((ctx, next) => (ctx.path === '/webhook' ? deliveries(ctx) : next())) // before app.use(bodyParser())",
  worker: 'export default { fetch: createWorkerHandler((env) => ({ receive })) } // without request.json() before',
  lambda: 'export const handler = createLambdaHandler({ receive }) // without httpJsonBodyParser',
  node: "createServer(createNodeHandler({ receive })).listen(process.env['PORT']) // or verify({ body: await readBody(request), headers })",
} as const satisfies Readonly<Record<string, string>>

/**
 * A framework with an adapter.
 * @useDeclaredType
 */
export type DoctorFramework = keyof typeof adapterLines
