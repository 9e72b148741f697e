import { describe, expect, it } from 'vitest'
import type { DeliveryEvent, DemoEvent, LegacyReadyEvent, ReadyEvent, SummaryEvent } from './demo-events.js'
import { createDemoPrinter, createEventOrder, formatCommands } from './printer.js'

const time = new Date(2026, 0, 2, 3, 4, 5, 6).getTime()
const txHash = `0x9f2c81${'0'.repeat(54)}04e1`
const delivery: DeliveryEvent = {
  ...{ event: 'delivery.attempted', chainId: '31337', txHash, version: 2, attempt: 1, status: 204, reason: null },
  ...{ latencyMs: 11.6, outcome: 'delivered', retryInMs: null, receiver: 'signature ok, stored v2' },
}
const summary: SummaryEvent = {
  ...{ event: 'summary', ok: false, payments: 2, verified: 1, delivered: 3, retried: 1, p50Ms: 10.7, runMs: 2_340 },
  ...{ reasons: ['The chain ended.'], folder: '/tmp/demo' },
}
const ready: ReadyEvent = {
  ...{ event: 'ready', version: '0.1.0', readyMs: 1_234, url: 'http://127.0.0.1:4747' },
  ...{ integrationAddress: `0x${'11'.repeat(20)}`, apiSecret: 'the-api-secret', signingSecret: 'the-webhook-secret' },
  ...{ legacyApiKey: 'the-legacy-key', accountHandle: 'demo-shop', accountAddress: `0x${'33'.repeat(20)}` },
  tokenSymbol: 'USDC',
  receiverUrl: 'http://127.0.0.1:5/webhook',
  identityProviderUrl: 'http://127.0.0.1:7',
  shareUrl: 'http://127.0.0.1:4747/api/v1/integration/idv-share-token',
  shareRequest: { email: 'user@shop.example', kycShareToken: 'the-share-token' },
  triggerUrl: 'http://127.0.0.1:4747/api/v1/integration/trigger',
  ...{ rpcUrl: 'http://127.0.0.1:6', chainId: '31337', router: `0x${'22'.repeat(20)}`, routerVersion: '0.8' },
  ...{ folder: '/tmp/demo', kept: false, seed: 42, forwardsTo: null },
  minting: {
    ...{ baseUrl: 'http://127.0.0.1:7', appToken: 'sbx:demo-shop', secretKey: 'the-key-of-the-shop' },
    ...{ applicantId: 'the-applicant', forClientId: 'PaymentService' },
  },
}
const legacyReady: LegacyReadyEvent = {
  event: 'legacy.ready',
  chainId: '31337',
  txHash,
  legacyApiKey: 'the-legacy-key',
  lookupUrl: `http://127.0.0.1:4747/api/v1/tx/31337/${txHash}`,
  verifyUrl: 'http://127.0.0.1:4747/api/v1/verify',
  verifyRequest: { chainId: 31_337, txHash, invoiceAmount: '8.96', invoiceCurrency: 'USD', address: 'demo-shop' },
  referenceUrl: 'http://127.0.0.1:4747/reference',
}
const order = { number: 1, price: '8.30 EUR', paid: '8.96 USDC', memo: 'order-1' }
const sent: DemoEvent = { event: 'payment.sent', chainId: '1', txHash, ...order }
const indexed: DemoEvent = { event: 'payment.indexed', chainId: '1', txHash, blockNumber: 1 }
const problem: DemoEvent = { event: 'problem', reason: 'no' }

function print(
  events: readonly DemoEvent[],
  options: { json?: boolean; quiet?: boolean; color?: boolean; hasKeys?: boolean } = {},
) {
  const { json = false, quiet = false, color = false, hasKeys = false } = options
  const lines: string[] = []
  const printer = createDemoPrinter({ out: (line) => void lines.push(line), color }, { json, quiet, hasKeys })
  for (const event of events) printer(event, time)
  return lines
}

describe('createDemoPrinter', () => {
  it('prints an attempt and its answer as two lines with the time of day', () => {
    expect(print([delivery])).toEqual([
      '03:04:05.006    --> 0x9f2c81..04e1  v2  attempt 1',
      '03:04:05.006    <-- 204  12 ms   signature ok, stored v2',
    ])
  })

  it.each([
    [{ status: 500, outcome: 'pending', retryInMs: 5_120 }, '<-- 500  12 ms   retry in 5.1 s'],
    [{ status: null, reason: 'timeout', outcome: 'pending', retryInMs: 900 }, '<-- timeout  12 ms   retry in 0.9 s'],
    [{ status: 500, outcome: 'superseded' }, '<-- 500  12 ms   superseded by a newer version; not sent again'],
    [{ status: 410, outcome: 'exhausted' }, '<-- 410  12 ms   no further attempt'],
    [{ status: null, outcome: 'exhausted' }, '<-- no answer  12 ms   no further attempt'],
  ])('prints what follows a failed attempt: %j', (changes, text) => {
    expect(print([{ ...delivery, receiver: null, ...changes }])[1]).toContain(text)
  })

  it('has a header of at most twelve lines: the console first, a line per credential, the keys', () => {
    const written: DemoEvent = { event: 'env.file', kind: 'written', path: '.env.local', ignored: true }
    const forwarding: DemoEvent = { ...ready, forwardsTo: 'http://localhost:3000/webhook' }
    const lines = print([forwarding, written], { hasKeys: true })
    expect(lines.length).toBeLessThanOrEqual(12)
    expect(lines.find((line) => line.includes('http://'))).toMatch(/Console +http:\/\/127\.0\.0\.1:4747\/console /)
    for (const value of [ready.integrationAddress, 'the-api-secret', 'the-webhook-secret', 'the-legacy-key'])
      expect(lines.filter((line) => line.includes(value))).toHaveLength(1)
    for (const line of lines) expect(line.length).toBeLessThan(120)
    const keys = 'k commands   o console   c chaos   d doctor   ? help   q quit'
    expect(lines.find((line) => line.includes('Keys'))).toContain(keys)
    expect(print([ready], { hasKeys: true }).join()).not.toContain('doctor')
    expect(print([ready]).at(-1)).toContain('Ctrl-C stops the demo')
  })

  it('gives the commands of the legacy API once a payment is verified', () => {
    const early = formatCommands(ready, null).join('\n')
    expect(early).not.toContain('/api/v1/verify')
    for (const text of [`demo-shop, paid in USDC at ${ready.accountAddress}`, 'removed at the end'])
      expect(early).toContain(text)
    expect(formatCommands({ ...ready, kept: true }, null).join('\n')).not.toContain('removed')
    const later = formatCommands(ready, legacyReady)
    const key = 'curl -s -H "Authorization: the-legacy-key"'
    const json = '-H "Content-Type: application/json" -d'
    const request = `{"chainId":31337,"txHash":"${txHash}","invoiceAmount":"8.96","invoiceCurrency":"USD","address":"demo-shop"}`
    expect(later).toContain(`${key} http://127.0.0.1:4747/api/v1/tx/31337/${txHash}`)
    expect(later).toContain(`${key} ${json} '${request}' http://127.0.0.1:4747/api/v1/verify`)
  })

  it('shows success in green, failure in red and pending in yellow', () => {
    const changed = { event: 'payment.changed', chainId: '1', txHash, version: 2, from: null } as const
    const getColor = (to: string) =>
      /->.*?\[(\d\d)m(?=\w)/.exec(print([{ ...changed, to }], { color: true })[0] ?? '')?.[1]
    const states = ['success', 'refund_success', 'failure', 'refund_failure', 'pending', 'refund_pending']
    expect(states.map(getColor)).toEqual(['32', '32', '31', '31', '33', '33'])
  })

  it('prints the price and the paid amount of a payment', () => {
    const line = '03:04:05.006  payment  0x9f2c81..04e1  8.30 EUR, paid as 8.96 USDC  order-1'
    expect(print([sent])).toEqual(['', line])
  })

  it('prints the summary with its reasons and the remaining folder', () => {
    expect(print([summary])).toEqual([
      '',
      'failed   2 payments   1 verified   3 delivered   1 retried   p50 11 ms   2.3 s',
      '  - The chain ended.',
      'Files are in /tmp/demo',
    ])
    expect(print([{ ...summary, p50Ms: null, ok: true, reasons: [], folder: null }])[1]).toContain('p50 -')
  })

  it('with json, prints each event with its time and nothing else, uncolored', () => {
    const lines = print([ready, delivery, legacyReady, summary], { json: true, color: true })
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      [ready, delivery, legacyReady, summary].map((event) => ({ ...event, at: new Date(time).toISOString() })),
    )
  })

  it('prints until when the receiver is blocked, with a key only once keys are read', () => {
    const until = new Date(time + 3_000).toISOString()
    const blocked: DemoEvent = { event: 'receiver.blocked', until, failures: 5 }
    const line = '03:04:05.006  receiver blocked until 03:04:08 after 5 failures in a row'
    expect(print([blocked])).toEqual([line])
    expect(print([blocked], { quiet: true, hasKeys: true })).toEqual([`${line}; press a to retry now`])
    expect(print([blocked], { json: true })).toEqual([JSON.stringify({ ...blocked, at: new Date(time).toISOString() })])
  })

  it('with quiet, omits success', () => {
    const unanswered: DemoEvent = { ...delivery, outcome: 'pending', retryInMs: 1 }
    const rejected: DemoEvent = { event: 'receiver.rejected', code: 'ERR_SIGNATURE_MISMATCH', status: 401 }
    const events = [ready, indexed, delivery, legacyReady, unanswered, rejected, problem, summary]
    const printed = print(events, { json: true, quiet: true }).map((line) => (JSON.parse(line) as DemoEvent).event)
    expect(printed).toEqual(['ready', 'delivery.attempted', 'receiver.rejected', 'problem', 'summary'])
  })

  it('colors failures for a terminal', () => {
    expect(print([problem], { color: true })[0]).toContain('\u001b[31m')
  })
})

function recorded() {
  const printed: [string, number][] = []
  let time = 0
  const clock = { now: () => (time += 1) }
  return { printed, stage: createEventOrder(({ event }, at) => printed.push([event, at]), clock) }
}

it('prints a payment before its events, even when they came first', async () => {
  const { printed, stage } = recorded()
  const report = async () => stage.report(indexed)
  await stage.first(report, () => sent)
  stage.report(problem)
  expect(printed.map(([name]) => name)).toEqual(['payment.sent', 'payment.indexed', 'problem'])
  const times = printed.map(([, at]) => at)
  expect(times).toEqual([...times].sort((a, b) => a - b))
})

it('prints delayed events when the payment could not be made', async () => {
  const { printed, stage } = recorded()
  const pay = async () => {
    stage.report(problem)
    throw new Error('no gas')
  }
  await expect(stage.first(pay, () => sent)).rejects.toThrow('no gas')
  expect(printed.map(([name]) => name)).toEqual(['problem'])
})
