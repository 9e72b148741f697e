/** An alert on the metrics of a running server whose receiver fails for a while. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { startServer } from '../../src/run/start-server.js'
import { facts, indexPayments } from '../support/index-payments.js'
import { startRecordingReceiver } from '../support/recording-receiver.js'
import { tempConfig } from '../support/temp-config.js'
import { opsFolder, promtool, promtoolMissing } from './promtool.js'
import { parseScrape, type Scrape, seriesOf } from './scraped.js'

const stops: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

const token = 'a-token-of-the-tests'
const blocked = 'payment_integration_notification_endpoints_failing'
const shop = `0x${'a1'.repeat(20)}`

/** Starts a server with a receiver; `scrape` waits until the number of blocked receivers is as given. */
async function start() {
  const receiver = await startRecordingReceiver()
  stops.push(receiver.stop)
  const { config, remove } = await tempConfig({ PI_METRICS_TOKEN: token })
  stops.push(remove)
  const server = await startServer(config)
  stops.push(server.stop)
  await server.service.integrations.create({ address: shop, notificationUrl: `${receiver.url}/` })
  async function scrape(expected: '0' | '1'): Promise<Scrape> {
    for (;;) {
      const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
      const found = parseScrape(await answer.text())
      if (found.get(blocked) === expected) return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  async function pay(digit: string, count: number) {
    const hashes = Array.from({ length: count }, (_, index) => `0x${digit}${String(index).padStart(63, '0')}`)
    const payments = hashes.map((txHash) => facts({ txHash, integrationAddress: shop }))
    await indexPayments(server.service.store, payments)
    server.service.dispatcher.wake()
  }
  return { receiver, scrape, pay }
}

/** Each scrape stands for a minute. @param expected - The firing alerts, by time. */
async function ruleTest(scrapes: readonly Scrape[], expected: Readonly<Record<string, readonly object[]>>) {
  const folder = await mkdtemp(join(tmpdir(), 'payment-integration-alerts-'))
  stops.push(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'live.test.yaml')
  const checks = Object.entries(expected).map(([at, alerts]) => ({
    eval_time: at,
    alertname: 'ReceiverBlocked',
    exp_alerts: alerts,
  }))
  const input = seriesOf(scrapes, 'job="payment-integration",instance="live"')
  const tests = [{ interval: '1m', input_series: input, alert_rule_test: checks }]
  const rule_files = [join(opsFolder, 'prometheus/alerts.yaml')]
  await writeFile(file, stringify({ rule_files, evaluation_interval: '1m', tests }))
  return promtool('test', 'rules', file)
}

describe.skipIf(promtoolMissing !== null)(`ReceiverBlocked${promtoolMissing ?? ''}`, () => {
  it('fires on the metrics of a server whose receiver fails, and is resolved by those after it recovered', async () => {
    const { receiver, scrape, pay } = await start()
    await pay('1', 1)
    const before = await scrape('0')
    receiver.answer = (_, response) => void response.writeHead(500).end()
    await pay('2', 6)
    const during = await scrape('1')
    receiver.answer = (_, response) => void response.writeHead(204).end()
    const after = await scrape('0')
    const during40 = Array.from({ length: 40 }, () => during)
    const scrapes = [before, before, ...during40, after, after]
    const firing = {
      exp_labels: { severity: 'warning' },
      exp_annotations: {
        summary: '1 receivers of notifications are blocked.',
        description:
          'For half an hour there was always one. Deliveries wait, and are sent when their receiver answers again.',
        runbook: 'docs/runbooks/receiver-blocked.md',
      },
    }
    const result = await ruleTest(scrapes, { '1m': [], '31m': [], '40m': [firing], '43m': [] })
    expect(result.output).toContain('SUCCESS')
    expect(result.code).toBe(0)
  })
})
