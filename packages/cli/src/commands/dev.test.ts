import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { createVerifier, readBody } from '@payment-integration/webhook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveHttp } from '../../test/serve-http.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, type TestIo, testIo } from '../../test/test-io.js'
import { planPayment, seededFraction } from '../dev/clients.js'
import type { LegacyReadyEvent, ReadyEvent } from '../dev/demo-events.js'
import type { Io } from '../io.js'
import { aborted } from '../process.js'
import { runCli } from '../run-cli.js'

/** A run with a temporary folder of its own, on any free port. */
function demoIo(env: Record<string, string> = {}, changes: Partial<Io> = {}): TestIo {
  return testIo({ env: { PI_PORT: '0', ...env }, temporaryFolder: temporaryFolder(), ...changes })
}

const only = (events: Record<string, unknown>[], name: string) => events.filter(({ event }) => event === name)

describe('dev --until-idle', () => {
  it('exits with 0 once three payments are final, delivered, verified and read back', async () => {
    const io = demoIo()
    const exitCode = await runCli(['dev', '--until-idle', '--payments', '3', '--seed', '42', '--json'], io)
    expect(io.errors).toEqual([])
    const events = getEvents(io)
    expect(only(events, 'problem')).toEqual([])
    expect(events[0]).toMatchObject({ event: 'ready', seed: 42, chainId: '31337' })
    const fraction = seededFraction(42)
    const plans = [1, 2, 3].map((number) => planPayment(number, fraction))
    const planned = plans.map(({ number, price, memo }) => ({ number, price, memo }))
    expect(only(events, 'payment.sent')).toMatchObject(planned)
    const verified = only(events, 'payment.verified')
    expect(verified.map(({ number }) => number).sort()).toEqual([1, 2, 3])
    for (const { txHash, version, state } of verified) {
      expect(['success', 'refund_success']).toContain(state)
      const ofPayment = events.filter((event) => event['txHash'] === txHash)
      expect(ofPayment[0]).toMatchObject({ event: 'payment.sent' })
      const changes = only(ofPayment, 'payment.changed').map((event) => event['version'])
      expect(changes).toEqual(Array.from({ length: Number(version) - 1 }, (_, index) => index + 2))
      const receiver = `signature ok, stored v${version}`
      const last = { version, outcome: 'delivered', status: 204, receiver }
      expect(only(ofPayment, 'delivery.attempted').at(-1)).toMatchObject(last)
    }
    const summary = { event: 'summary', ok: true, payments: 3, verified: 3, reasons: [], folder: null }
    expect(events.at(-1)).toMatchObject(summary)
    expect(exitCode).toBe(0)
    expect(readdirSync(io.temporaryFolder)).toEqual([])
    expect(io.cleanUps.size).toBe(0)
  })

  it('exits with 1 and the reasons when the deadline passes first', async () => {
    // The deadline passes when its one payment is done, however long that takes on this machine.
    const deadline = new AbortController()
    const { sleep } = testIo()
    const io = demoIo({}, { sleep: (ms, signal) => (ms === 8_000 ? aborted(deadline.signal) : sleep(ms, signal)) })
    const args = ['dev', '--until-idle', '--payments', '1000', '--every', '1h', '--deadline', '8s', '--json']
    const ended = runCli(args, io)
    await Promise.race([io.line((line) => line.includes('payment.verified')), ended])
    deadline.abort()
    expect(await ended).toBe(1)
    const reasons = ['The deadline of 8 s passed.']
    expect(getEvents(io).at(-1)).toMatchObject({ event: 'summary', ok: false, payments: 1, reasons })
    expect(readdirSync(io.temporaryFolder)).toEqual([])
  })

  it('exits with 1 and a sentence when the deadline passes during the start', async () => {
    const io = demoIo()
    expect(await runCli(['dev', '--until-idle', '--payments', '1', '--deadline', '1ms'], io)).toBe(1)
    expect(io.errors).toEqual(['The demo did not start within the deadline of 0.001 s.'])
    expect(readdirSync(io.temporaryFolder)).toEqual([])
  })
})

/** Starts one demo with one payment for the tests of a group; without `--json` its commands are printed, too. */
function sharedDemo(...args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'payment-integration-cli-test-'))
  let press: (key: string) => void = () => undefined
  const keys: Io['keys'] = (onKey) => {
    press = onKey
    return () => undefined
  }
  const io = testIo({ env: { PI_PORT: '0' }, temporaryFolder: folder, keys })
  let ended: Promise<number>
  const end = () => {
    io.interrupt()
    return ended
  }
  beforeAll(async () => {
    ended = runCli(['dev', '--every', '1h', ...args], io)
    await Promise.race([io.line((line) => line.includes(args.includes('--json') ? 'legacy.ready' : 'verified')), ended])
    press('k')
    if (!args.includes('--json')) await io.line((line) => line.includes('/api/v1/verify'))
  })
  afterAll(async () => {
    await end()
    rmSync(folder, { recursive: true, force: true })
  })
  return { io, end }
}

/** Sends a request that a `curl` command of the output names, with the credentials of its `-u` and its JSON body. */
function paste(command: string) {
  const [, credentials = '', body, url = ''] = / -u (\S+) (?:-H "\S+ \S+" -d '([^']+)' )?(\S+)$/.exec(command) ?? []
  const headers = { authorization: `Basic ${btoa(credentials)}`, 'content-type': 'application/json' }
  return fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) })
}

describe('a running demo', () => {
  const { io, end } = sharedDemo('--seed', '42')

  it('prints credentials that the API accepts, and every step of a payment', async () => {
    const text = io.lines.join('\n')
    const [command = ''] = /curl -s -u \S+ \S+/.exec(text) ?? []
    expect(await (await paste(command)).json()).toMatchObject({ payments: [{ state: 'success' }] })
    for (const step of ['payment', 'indexed', 'none -> pending', 'pending -> success', '--> ', 'attempt 1', '<-- 204'])
      expect(text).toContain(step)
    expect(text).toContain('signature ok, stored v3')
    expect(text).toContain('valid for this run only')
    expect(text).not.toContain('\u001b[')
  })

  it('prints a share request that is pending first and GREEN later', async () => {
    const line = await io.line((each) => each.includes('idv-share-token'))
    const share = async () => (await paste(line)).json()
    expect(await share()).toMatchObject({ reviewStatus: 'pending', reviewAnswer: null, reused: true })
    const green = { reviewStatus: 'completed', reviewAnswer: 'GREEN', reused: false }
    await expect.poll(share, { timeout: 300_000, interval: 100 }).toMatchObject(green)
    const [, provider = ''] = /Identity +(http:\S+),/.exec(io.lines.join('\n')) ?? []
    expect((await fetch(provider)).status).toBe(401)
  })

  it('prints a legacy look-up and a verify after the first verified payment, for the printed amount', async () => {
    const curl = await io.line((line) => line.includes('/api/v1/tx/'))
    const [, authorization = '', url = ''] = /curl -s -H "Authorization: (\S+)" (\S+)$/.exec(curl) ?? []
    const response = await fetch(url, { headers: { authorization } })
    expect(response.status).toBe(200)
    const { payments } = (await response.json()) as { payments: unknown[] }
    const [, price = '', paid = ''] = / {2}(\S+) EUR, paid as (\S+) USDC {2}order-1$/m.exec(io.lines.join('\n')) ?? []
    const found = { memo: 'order-1', tokenSymbol: 'USDC', invoiceCurrency: 'USD', conversion: '', final: true }
    expect(payments).toMatchObject([found])
    const { invoiceAmount, tokenAmount } = payments[0] as { invoiceAmount: string; tokenAmount: { formatted: string } }
    expect([Number(invoiceAmount), Number(tokenAmount.formatted)]).toEqual([Number(paid), Number(paid)])
    expect(Number(paid)).toBeCloseTo(Number(price) * 1.08, 1)
    const pasted = await io.line((line) => line.includes('/api/v1/verify'))
    const [, key = '', type = '', body = '', verifyUrl = ''] =
      /curl -s -H "Authorization: (\S+)" -H "Content-Type: (\S+)" -d '([^']+)' (\S+)$/.exec(pasted) ?? []
    const headers = { authorization: key, 'content-type': type }
    const verified = await (await fetch(verifyUrl, { method: 'POST', headers, body })).json()
    expect(verified).toMatchObject({ payments: [{ verified: true }] })
    expect(io.lines.findIndex((line) => line.includes('verified'))).toBeLessThan(io.lines.indexOf(curl))
  })

  it('prints a request that causes a refund, whose versions the receiver stores', async () => {
    const line = await io.line((each) => each.includes('/integration/trigger'))
    const events = (await (await paste(line)).text()).trimEnd().split('\n')
    expect(JSON.parse(events.at(-1) ?? '')).toEqual({ event: 'done', scenario: 'refund', payments: 1, snapshots: 5 })
    await io.line((each) => each.includes('signature ok, stored v5'))
  })

  it('after a signal exits with 0, prints the summary, stops every part and removes the files', async () => {
    const [, provider = ''] = /Identity +(http:\S+),/.exec(io.lines.join('\n')) ?? []
    expect(await end()).toBe(0)
    expect(io.lines.at(-1)).toMatch(/^ok {3}1 payments {3}1 verified {3}\d delivered {3}0 retried {3}p50 \d+ ms/)
    expect(readdirSync(io.temporaryFolder)).toEqual([])
    await expect(fetch(provider)).rejects.toThrow('fetch failed')
  })
})

describe('a running demo with --json', () => {
  const { io, end } = sharedDemo('--json')

  it('names the first verified payment for the legacy API, and a reference page that exists', async () => {
    const line = await io.line((each) => each.includes('"legacy.ready"'))
    const ready = JSON.parse(line) as LegacyReadyEvent
    expect(ready.txHash).toBe(only(getEvents(io), 'payment.verified')[0]?.['txHash'])
    expect((await fetch(ready.referenceUrl)).status).toBe(200)
  })

  it('makes a second demo on its port exit with 1 and leave no file', async () => {
    const [ready] = getEvents(io) as unknown as [ReadyEvent]
    const second = demoIo()
    expect(await runCli(['dev', '--port', new URL(ready.url).port], second)).toBe(1)
    expect(second.errors[0]).toContain(new URL(ready.url).port)
    expect(second.errors[0]).toContain('choose another port (--port or PI_PORT)')
    expect(readdirSync(second.temporaryFolder)).toEqual([])
    expect(await end()).toBe(0)
  })
})

describe('dev', () => {
  it('with --quiet prints only header and summary; with --keep keeps the files and prints their folder', async () => {
    const io = demoIo()
    expect(await runCli(['dev', '--until-idle', '--payments', '1', '--quiet', '--keep', '--json'], io)).toBe(0)
    const events = getEvents(io)
    expect(events.map(({ event }) => event)).toEqual(['ready', 'summary'])
    const [folder = ''] = readdirSync(io.temporaryFolder)
    expect(String(events[1]?.['folder'])).toContain(folder)
    expect(readdirSync(String(events[1]?.['folder']))).toEqual(expect.arrayContaining(['receiver.db', 'service.db']))
  })

  it('interrupted during the start, exits with 0 and leaves no file', async () => {
    const io = demoIo()
    const ended = runCli(['dev'], io)
    setImmediate(io.interrupt)
    expect(await ended).toBe(0)
    expect(readdirSync(io.temporaryFolder)).toEqual([])
  })

  it('names an invalid variable of its environment', async () => {
    const io = demoIo({ PI_PORT: 'x' })
    expect(await runCli(['dev'], io)).toBe(1)
    expect(io.errors.join('\n')).toContain('PI_PORT')
    expect(readdirSync(io.temporaryFolder)).toEqual([])
  })
})

describe('dev --forward-to', () => {
  /** A receiver as an integrator writes it, with the secret of its env file. */
  async function userReceiver(secret: () => string) {
    const verified: string[] = []
    const { verify } = createVerifier({ secrets: () => secret() })
    const url = await serveHttp(async (request, response) => {
      const { snapshot } = await verify({ body: await readBody(request), headers: request.headers })
      const isNew = !verified.includes(`v${snapshot.version}`)
      verified.push(`v${snapshot.version}`)
      response.writeHead(isNew && snapshot.state?.endsWith('success') ? 503 : 204).end()
    })
    return { verified, url: `${url}/hook` }
  }
  const getValues = (path: string) => parseEnv(readFileSync(path, 'utf8'))

  it('delivers to the receiver of the user, which verifies with the secret of the written file', async () => {
    const io = demoIo()
    const env = join(io.temporaryFolder, '.env.local')
    const { url, verified } = await userReceiver(() => getValues(env)['WEBHOOK_SIGNING_SECRET'] ?? '')
    const args = ['dev', '--until-idle', '--payments', '2', '--forward-to', url, '--env', env, '--json']
    expect(await runCli(args, io)).toBe(0)
    const events = getEvents(io)
    const [ready] = only(events, 'ready')
    expect(only(events, 'env.file')).toMatchObject([{ kind: 'written', path: env, ignored: false }])
    const access = { PAYMENTS_URL: ready?.['url'], INTEGRATION_ADDRESS: ready?.['integrationAddress'] }
    const secrets = { API_SECRET: ready?.['apiSecret'], LEGACY_API_KEY: ready?.['legacyApiKey'] }
    expect(getValues(env)).toMatchObject({ ...access, ...secrets })
    expect(verified.filter((version) => version === 'v1')).toHaveLength(2)
    expect(only(events, 'payment.verified')).toHaveLength(2)
    const [retried] = only(events, 'delivery.attempted').filter(({ attempt }) => attempt === 2)
    expect(retried).toMatchObject({ outcome: 'delivered', receiver: 'signature ok, accepted by your receiver' })
  })

  it('shows the URL of the user on its pages; exits with 1 and says what to do when nothing listens there', async () => {
    const io = demoIo()
    const args = ['dev', '--until-idle', '--payments', '1', '--no-env', '--json']
    const running = runCli([...args, '--forward-to', 'http://127.0.0.1:1/hook'], io)
    expect(await io.line((line) => line.includes('forward.failed'))).toContain('Nothing listens at 127.0.0.1:1 yet')
    await io.line((line) => line.includes('"status":null'))
    const [ready] = only(getEvents(io), 'ready')
    const page = await (await fetch(`${ready?.['url']}/console/integrations`)).text()
    expect(page).toContain('http://127.0.0.1:1/hook')
    expect(page).not.toContain(String(ready?.['receiverUrl']))
    io.interrupt()
    expect(await running).toBe(1)
    expect(only(getEvents(io), 'env.file')).toEqual([])
  })

  it.each([
    ['a URL with a password', ['--forward-to', 'http://u:p@localhost/']],
    ['no URL', ['--forward-to', 'localhost:3000']],
    ['--env without --forward-to', ['--env', '.env']],
  ])('%s is misuse', async (_, args) => {
    const io = demoIo()
    expect(await runCli(['dev', ...args], io)).toBe(2)
    expect(io.errors.join()).not.toContain('u:p')
  })
})
