/** The tools of a server in development: trigger with live results, doctor, explain. */
import { explainDelivery, parseHeaders } from '@payment-integration/testing/explain'
import type { TwinIntegration } from '@payment-integration/testing/twin'
import { beforeAll, describe, expect, it } from 'vitest'
import { BrowserLike, endedJob } from '../../test/browser-like.js'
import { localOrigin, setUpConsole } from '../../test/console-setup.js'
import type { DoctorInput } from '../tools.js'

const hostile = '<script>alert(1)</script>\u202eevil'
let shop: TwinIntegration
let person: BrowserLike
let delivery: { headers: string; body: string }
const requests: unknown[] = []
/** Ends the wait of the running scenario. */
let goOn = (): void => undefined

async function* scenario() {
  yield { event: 'block', chainId: '137', blockNumber: 7, txHashes: [`0x${'ab'.repeat(32)}`] }
  yield { event: 'delivery', chainId: hostile, txHash: hostile, version: 1, expected: hostile, status: 500 }
  await new Promise<void>((resolve) => {
    goOn = resolve
  })
  yield { event: hostile, reason: hostile }
}

async function doctor({ onProbe, integrationAddress }: DoctorInput) {
  onProbe({ name: 'good', verdict: 'pass', sent: 'a', expected: '2xx', evidence: '204 in 3 ms' })
  onProbe({ name: 'forged', verdict: 'fail', sent: 'a forged one', expected: '4xx', evidence: `204; ${hostile}` })
  const fix = { summary: 'Verify first.' }
  const sentence = `Forged are accepted by ${integrationAddress}.`
  const findings = [{ verdict: 'fail', sentence, probes: ['forged'], fix } as const]
  return { passed: 1, failed: 1, warned: 0, notRun: 0, findings }
}

const setup = setUpConsole(
  8,
  async (twin) => {
    shop = await twin.addIntegration(async (request) => {
      const headers = [...request.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
      delivery = { headers, body: await request.text() }
      return new Response(null, { status: 204 })
    })
  },
  {
    tools: {
      trigger: {
        chainIds: [137, 10],
        run(request, caller) {
          requests.push([request, caller])
          if ((request as { scenario?: string }).scenario !== 'unknown') return scenario()
          throw Object.assign(new Error(`${hostile} is unknown`), { code: 'ERR_TRIGGER_INVALID' })
        },
      },
      doctor,
      async explain({ headers, body, receivedAt }) {
        const secrets = [shop.signingSecret]
        return headers === hostile
          ? { problem: hostile }
          : explainDelivery({ headers: parseHeaders(headers), body, secrets, clock: { now: () => receivedAt } })
      },
    },
  },
)
beforeAll(() => {
  person = new BrowserLike(setup.pages, localOrigin)
})

async function act(name: string, fields: Record<string, string>) {
  const csrf = await person.csrf('/console/tools')
  return person.post(`/console/act/${name}`, { csrf, integration: shop.address, ...fields })
}

/** Reads a stream until a part of it is there. */
async function streamed(path: string, part: string): Promise<string> {
  const answer = await setup.pages.fetch(new Request(`${localOrigin}${path}`))
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(part)) {
    const next = await reader?.read()
    if (next === undefined || next.done) throw new Error(`The stream ended without ${part}.`)
    text += next.value
  }
  await reader?.cancel()
  return text
}

it('an empty console offers a test payment on the overview and among the payments', async () => {
  for (const path of ['/console', '/console/payments']) {
    const { text } = await person.get(path)
    expect(text).toContain('Send a test payment')
    expect(text).toContain(`name="integration" value="${shop.address}"`)
  }
})
describe('a trigger', () => {
  it('runs as a job: each event is a row at once, reaches an open page, and stays after a reload', async () => {
    const fields = { scenario: 'payment', amount: '12.50', token: 'USDC' }
    const { location } = await act('trigger', { ...fields, chain: '10', memo: '', verdict: 'green', count: '' })
    expect(requests.at(-1)).toEqual([{ ...fields, chainId: 10 }, { integrationAddress: shop.address }])
    const [, id] = /jobs\/(.+)$/.exec(location ?? '') ?? []
    const parts = await streamed(`/console/live?topic=job&id=${id}`, 'event: parts')
    expect(parts).toContain('Block 7 of chain 137: 1 payment')
    const page = await person.get(location ?? '')
    expect(page.text).toContain('Block 7 of chain 137: 1 payment')
    expect(page.text).toContain(`data-live="topic=job&amp;id=${id}&amp;after=`)
    const end = streamed(`/console/live?topic=job&id=${id}`, 'event: stale')
    goOn()
    await end
    const text = await endedJob(person, location)
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('\u202e')
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}evil')
  })

  it('of kyc sends the verdict alone', async () => {
    const { location } = await act('trigger', { scenario: 'kyc', amount: '1', chain: '10', verdict: 'red-final' })
    expect(requests.at(-1)).toMatchObject([{ scenario: 'kyc', verdict: 'red-final' }, {}])
    await act('stop-job', { id: location?.slice(14) ?? '' })
    goOn()
    expect(await endedJob(person, location)).toContain('stopped')
    const [record] = await setup.twin.service.store.console.audit({ limit: 1 })
    expect(record).toMatchObject({ action: 'job.stopped', details: { title: 'Scenario kyc' } })
  })

  it('that is rejected says why, as text; without an integration nothing is caused', async () => {
    const { status, text } = await act('trigger', { scenario: 'unknown' })
    expect([status, text.includes('&lt;script&gt;alert(1)&lt;/script&gt;')]).toEqual([400, true])
    const before = requests.length
    const unknown = await act('trigger', { scenario: 'payment', integration: '0x00' })
    expect([unknown.status, requests.length]).toEqual([409, before])
  })
})

it('the doctor shows each cause with its cure, then its probes', async () => {
  const { location } = await act('doctor', {})
  const text = await endedJob(person, location)
  const [record] = await setup.twin.service.store.console.audit({ limit: 1 })
  expect(record).toMatchObject({ action: 'integration.receiver_probed', subject: shop.address })
  expect(text).toContain('1 probes passed, 1 failed, 0 warned, 0 did not run.')
  expect(text).toContain(`Forged are accepted by ${shop.address}.`)
  expect(text.indexOf('Verify first.')).toBeGreaterThan(0)
  expect(text.indexOf('204 in 3 ms')).toBeGreaterThan(text.indexOf('Verify first.'))
  expect(text).not.toContain('<script>alert')
})

it('the doctor of an integration without a notification URL is rejected', async () => {
  const silent = await setup.twin.addIntegration()
  const { status, text } = await act('doctor', { integration: silent.address })
  expect([status, text.includes('no notification URL')]).toEqual([409, true])
})

describe('explain', () => {
  const at = () => new Date(setup.twin.clock.now()).toISOString().slice(0, 19)

  it('accepts a delivery as it arrived, and shows no secret and no signature', async () => {
    await setup.twin.pay({ integrationAddress: shop.address })
    const { status, text } = await act('explain', { ...delivery, at: at() })
    expect([status, text.includes('A receiver accepts this delivery.')]).toEqual([200, true])
    expect(text).not.toContain(shop.signingSecret)
    expect(text).toContain('Signed bytes')
  })

  it('names the cause and the cure of a body that was parsed and written again', async () => {
    const body = JSON.stringify(JSON.parse(delivery.body), null, 2)
    const { text } = await act('explain', { headers: delivery.headers, body, at: at() })
    expect(text).toContain('A receiver rejects this delivery.')
    expect(text).toContain('The body was parsed as JSON and written again')
    expect(text).toContain('Verify the raw bytes before any JSON parser.')
  })

  it('shows hostile input as text, and says what is unreadable', async () => {
    const { text } = await act('explain', { headers: hostile, body: `</textarea>${hostile}`, at: at() })
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('</textarea><script')
    expect(text).toContain('role="alert"')
    expect((await act('explain', { ...delivery, at: 'now' })).status).toBe(400)
  })
})
