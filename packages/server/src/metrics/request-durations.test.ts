import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createRequestDurations, durationBuckets, prefix } from './metrics.js'

const observations = [0, 0.0004, 0.001, 0.0011, 0.02, 0.25, 0.3, 30, 31]

test('writes every bucket, sum and count that the Prometheus library writes for the same durations', async () => {
  const registry = new Registry()
  const name = `${prefix}http_request_duration_seconds`
  const labelNames = ['method', 'route', 'status']
  const peer = new Histogram({ name, help: 'x', labelNames, buckets: durationBuckets, registers: [registry] })
  const own = createRequestDurations()
  for (const [method, route, status] of [
    ['GET', '/a/:id', 200],
    ['other', 'none', 404],
  ] as const)
    for (const seconds of observations) {
      own.observe({ method, route, status }, seconds)
      peer.observe({ method, route, status: String(status) }, seconds)
    }
  const samples = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(samples(own.text())).toEqual(samples(await registry.metrics()))
  expect(own.text()).toContain(`# TYPE ${name} histogram`)
})
