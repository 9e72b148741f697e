/** The lines that keep the raw body, as the README of the webhook package has them. @module */
import type { FrameworkLine } from './finding.js'

/** One line for each framework with an adapter. */
export const frameworkLines: readonly FrameworkLine[] = [
  { framework: 'Express', line: "app.all('/webhook', createExpressHandler({ receive })) // above express.json()" },
  { framework: 'Fastify', line: "app.register(fastifyReceiver, { url: '/webhook', receive })" },
  {
    framework: 'Hono',
    line: "app.all('/webhook', createHonoHandler({ receive })) // above middleware that reads bodies",
  },
  {
    framework: 'Next',
    line: 'export const POST = createNextRoute({ receive }) // pages: export const config = { api: { bodyParser: false } }',
  },
  {
    framework: 'Nest',
    line: "app.use('/webhook', createNestHandler({ receive })) // in a controller: { rawBody: true }",
  },
  {
    framework: 'Koa',
    line: "app.use((ctx, next) => (ctx.path === '/webhook' ? deliveries(ctx) : next())) // before bodyParser()",
  },
  { framework: 'Worker', line: 'export default { fetch: createWorkerHandler({ receive }) }' },
  { framework: 'Lambda', line: 'export const handler = createLambdaHandler({ receive })' },
  { framework: 'Node', line: "createServer(createNodeHandler({ receive })).listen(process.env['PORT'])" },
]
