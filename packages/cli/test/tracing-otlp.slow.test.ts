/** The module of docs/observability.md, in front of the endpoint of a collector. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startRecordingReceiver } from '../../server/test/support/recording-receiver.js'
import { runCli } from '../src/run-cli.js'
import { testMasterKey } from './master-key.js'
import { serveHttp } from './serve-http.js'
import { start } from './start-process.js'
import { temporaryFolder } from './temporary-folder.js'
import { testIo } from './test-io.js'

const shop = `0x${'a1'.repeat(20)}`
const root = join(import.meta.dirname, '../../..')
const file = join(root, 'ops/tracing/otlp.mjs')

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] }
    readonly scopeSpans: readonly { readonly spans: readonly { readonly traceId: string; readonly name: string }[] }[]
  }[]
}

/** An endpoint for traces in OTLP's JSON form. @param status - Of its answers. */
async function startCollector(status = 200) {
  const exported: Exported[] = []
  const url = await serveHttp(async (request, response) => {
    const body = await text(request)
    if (request.url === '/v1/traces') exported.push(JSON.parse(body))
    response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}')
  })
  const spans = () =>
    exported.flatMap((each) => each.resourceSpans.flatMap((one) => one.scopeSpans.flatMap((s) => s.spans)))
  return { url, exported, spans }
}

test('a served payment arrives at a collector as one trace, which its delivery names', async () => {
  const collector = await startCollector()
  const receiver = await startRecordingReceiver()
  onTestFinished(receiver.stop)
  const env = {
    ...{ PI_ENV: 'development', PI_LOG_LEVEL: 'warn', PI_SIMULATED_CHAINS: '137', PI_TRACING: 'on' },
    PI_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'service.db')}`,
    PI_MASTER_KEY: testMasterKey,
    NODE_OPTIONS: `--import=${pathToFileURL(file).href}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  }
  const io = testIo({ env })
  expect(await runCli(['integrations', 'create', shop, '--url', `${receiver.url}/`, '--json'], io)).toBe(0)
  const { apiSecret } = JSON.parse(io.lines[0] ?? '') as { apiSecret: string }
  const server = start(['serve', '--json'], env)
  const { url } = JSON.parse(await server.line('"listening"')) as { url: string }
  const credentials = Buffer.from(`${shop}:${apiSecret}`).toString('base64')
  const headers = { authorization: `Basic ${credentials}`, 'content-type': 'application/json' }
  const body = '{"scenario":"payment"}'
  const answer = await fetch(`${url}/api/v1/integration/trigger`, { method: 'POST', headers, body })
  expect(await answer.text()).toContain('"done"')
  const names = () => collector.spans().map(({ name }) => name)
  const wanted = ['notification.attempt', 'notification.publish', 'payment.index']
  await expect.poll(() => names().toSorted(), { timeout: 500_000 }).toEqual(wanted)
  const traceIds = new Set(collector.spans().map(({ traceId }) => traceId))
  expect(traceIds.size).toBe(1)
  expect(receiver.arrived[0]?.headers['traceparent']).toContain([...traceIds][0])
  const resource = collector.exported[0]?.resourceSpans[0]?.resource.attributes
  expect(resource).toContainEqual({ key: 'service.name', value: { stringValue: 'payment-integration' } })
  server.child.kill('SIGTERM')
  await server.exited
})

/** Ends a span and gets SIGTERM before it was exported. Its drain is a number of requests. */
const draining = `
import { trace } from '@opentelemetry/api'
process.once('SIGTERM', async () => {
  for (let count = 0; count < 50; count += 1) await (await fetch(process.env.OTEL_EXPORTER_OTLP_ENDPOINT)).text()
  process.exit(0)
})
setInterval(() => undefined, 1_000)
trace.getTracer('test').startSpan('test').end()
process.kill(process.pid, 'SIGTERM')
`

test('an export that the collector rejects does not end a process that drains', async () => {
  const collector = await startCollector(400)
  const child = spawn(
    process.execPath,
    [`--import=${pathToFileURL(file).href}`, '--input-type=module', '--eval', draining],
    { cwd: root, env: { PATH: process.env['PATH'], OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, stdio: 'ignore' },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(collector.spans().map(({ name }) => name)).toEqual(['test'])
})

test('the page links to this module', () => {
  expect(readFileSync(join(root, 'docs/observability.md'), 'utf8')).toContain('](../ops/tracing/otlp.mjs)')
})
