/**
 * Draws the trace of one payment from the spans of a running server. Usage: node
 * --conditions=@payment-integration/source --import tsx packages/server/scripts/draw-trace.ts <file.svg>
 * @module
 */
import { writeFileSync } from 'node:fs'
import { trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { triggerPath } from '@payment-integration/contract/internal'
import { createSimulatedChains } from '@payment-integration/testing/twin'
import { startServer } from '../src/run/start-server.js'
import { basic } from '../test/support/integration-service.js'
import { recordSpans } from '../test/support/recorded-spans.js'
import { startRecordingReceiver } from '../test/support/recording-receiver.js'
import { tempConfig } from '../test/support/temp-config.js'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Name the file to write.')
const colors: Readonly<Record<string, string>> = {
  'payment.index': '#2f6fb0',
  'payment.update': '#7a52a8',
  'payment.change': '#7a52a8',
  'notification.attempt': '#2e8b57',
  'notification.publish': '#b7c3d0',
}
const shop = `0x${'a1'.repeat(20)}`
writeFileSync(file, getSvg(await spansOfOnePayment()))

/** A payment that becomes pending, then a success, which the receiver accepts at the second attempt. */
async function spansOfOnePayment(): Promise<readonly ReadableSpan[]> {
  const { provider, spans } = recordSpans()
  trace.setGlobalTracerProvider(provider)
  const receiver = await startRecordingReceiver()
  const failed = new Set<string>()
  receiver.answer = ({ body }, response) => {
    const isFirst = String(body).includes('"version":3') && !failed.has('3')
    failed.add(isFirst ? '3' : '')
    // A receiver takes a while.
    setTimeout(() => response.writeHead(isFirst ? 500 : 204).end(), 250)
  }
  const { config, remove } = await tempConfig({ PI_SIMULATED_CHAINS: '137', PI_TRACING: 'on' })
  const server = await startServer(config, { simulateChains: (world) => createSimulatedChains({ ...world, seed: 7 }) })
  const { apiSecret } = await server.service.integrations.create({ address: shop, notificationUrl: `${receiver.url}/` })
  const answer = await fetch(`${server.url}${triggerPath}`, {
    method: 'POST',
    headers: { authorization: basic(shop, apiSecret), 'content-type': 'application/json' },
    body: '{"scenario":"success"}',
  })
  await answer.text()
  while (receiver.arrived.length < 4) await new Promise((resolve) => setTimeout(resolve, 100))
  await server.stop()
  await receiver.stop()
  await remove()
  return spans()
}

function getMs([seconds, nanos]: readonly [number, number]): number {
  return seconds * 1_000 + nanos / 1e6
}

function getSvg(unsorted: readonly ReadableSpan[]): string {
  const spans = [...unsorted].sort(
    (a, b) => getMs(a.startTime) - getMs(b.startTime) || getMs(a.endTime) - getMs(b.endTime),
  )
  const from = Math.min(...spans.map((span) => getMs(span.startTime)))
  const to = Math.max(...spans.map((span) => getMs(span.endTime)))
  const [left, top, width, row] = [330, 62, 640, 28]
  const xOf = (ms: number) => left + ((ms - from) / (to - from)) * width
  const height = top + spans.length * row + 34
  const ticks = Array.from({ length: Math.floor((to - from) / 1_000) + 1 }, (_, second) => second)
  const lines = ticks.map((second) => {
    const x = xOf(from + second * 1_000).toFixed(1)
    return `<path d="M${x} ${top - 8}V${height - 26}" stroke="#e3e6ea"/><text x="${x}" y="${height - 10}" text-anchor="middle" fill="#5b6570">${second} s</text>`
  })
  const rows = spans.map((span, index) => {
    const y = top + index * row
    const [x, end] = [xOf(getMs(span.startTime)), xOf(getMs(span.endTime))]
    const color = span.status.code === 2 ? '#c0392b' : (colors[span.name] ?? '#5b6570')
    const ms = Math.round(getMs(span.endTime) - getMs(span.startTime))
    return [
      `<text x="16" y="${y + 15}" fill="#1c2126">${span.name}</text>`,
      `<text x="176" y="${y + 15}" fill="#5b6570">${getAbout(span)}</text>`,
      `<rect x="${x.toFixed(1)}" y="${y + 4}" width="${Math.max(3, end - x).toFixed(1)}" height="14" rx="2" fill="${color}"/>`,
      `<text x="${(end + 6).toFixed(1)}" y="${y + 15}" fill="#5b6570">${ms === 0 ? '' : `${ms} ms`}</text>`,
    ].join('')
  })
  const traceId = spans[0]?.spanContext().traceId
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="1040" height="${height}" viewBox="0 0 1040 ${height}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    `<title>The trace of one payment</title><rect width="1040" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="24" font-size="15" font-weight="600" fill="#1c2126">One payment, from its block to its receiver</text>`,
    `<text x="16" y="42" fill="#5b6570">trace ${traceId}</text>`,
    ...lines,
    ...rows,
    '</svg>\n',
  ].join('\n')
}

function getAbout({ attributes }: ReadableSpan): string {
  const parts = [
    ['payment.block_number', 'block '],
    ['payment.update.outcome', ''],
    ['payment.version', 'version '],
    ['notification.attempt', 'attempt '],
    ['http.response.status_code', ''],
  ] as const
  return parts
    .flatMap(([name, before]) => (attributes[name] === undefined ? [] : [`${before}${attributes[name]}`]))
    .join(', ')
}
