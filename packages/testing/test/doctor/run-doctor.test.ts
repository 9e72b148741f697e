import { createServer } from 'node:net'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { doctorCauseCodes, doctorFrameworks, getCause, getFix } from '../../src/doctor/causes.js'
import { type DoctorOptions, type DoctorProbe, doctorProbeNames, runDoctor } from '../../src/exports/doctor.js'
import { deadUrl, listen } from '../support.js'
import { correct, integrationAddress, plant, signingSecret } from './planted-receiver.js'

const unhurried = 120_000
const options = { signingSecret, integrationAddress, timeoutMs: unhurried }

/** A server that answers each connection with the same bytes. */
async function speaking(bytes: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(bytes))
  })
  return `127.0.0.1:${await listen(server)}`
}

describe('a correct receiver', () => {
  test('passes every probe, and has each effect once', async () => {
    const { url, effects } = await plant()
    const report = await runDoctor({ ...options, url, effects })
    expect(report.probes.filter(({ verdict }) => verdict !== 'pass')).toEqual([])
    expect(report.probes.map(({ name }) => name)).toEqual(doctorProbeNames)
    const passed = doctorProbeNames.length
    expect(report).toMatchObject({ url, passed, failed: 0, warned: 0, notRun: 0, findings: [] })
  })

  test('passes through a function instead of connections, except the probes of connections', async () => {
    const { url } = await plant()
    const report = await runDoctor({ ...options, url, fetch })
    expect(report.findings).toEqual([])
    const notRun = report.probes.filter(({ verdict }) => verdict === 'not-run').map(({ name }) => name)
    expect(notRun).toEqual(['keep-alive', 'keep-alive-after-rejection', 'in-pieces', 'broken-upload'])
  })

  test('may answer one of two concurrent deliveries with 503, if it accepts the retry', async () => {
    const counts = new Map<string, number>()
    const { url } = await plant({
      store(versions, snapshot) {
        const key = `${snapshot.txHash}/${snapshot.version}`
        const copy = (counts.get(key) ?? 0) + 1
        counts.set(key, copy)
        // The second copy meets the first, which is still being handled.
        return copy === 2 && snapshot.version === 1 ? [503, false] : correct.store(versions, snapshot)
      },
    })
    const { probes } = await runDoctor({ ...options, url })
    const statuses = probes.find(({ name }) => name === 'two-at-once')
    expect(statuses?.answered.map(({ status }) => status)).toEqual(expect.arrayContaining([204, 503, 204]))
    expect(statuses?.verdict).toBe('pass')
  })

  test('sees other payments in each run, and the same with the same seed', async () => {
    const hashes: string[] = []
    const { url } = await plant({
      store(versions, snapshot) {
        hashes.push(snapshot.txHash)
        return correct.store(versions, snapshot)
      },
    })
    const hashesOf = async (change: Partial<DoctorOptions>) => {
      hashes.length = 0
      await runDoctor({ ...options, url, ...change })
      return hashes.toSorted()
    }
    const first = await hashesOf({ seed: 1 })
    expect(first.every((hash) => hash.startsWith('0xd0c70000'))).toBe(true)
    expect(await hashesOf({ seed: 1 })).toEqual(first)
    expect(await hashesOf({ seed: 2 })).not.toEqual(first)
  })
})

describe('a run', () => {
  test('reports each probe when it ends, in the order of the report', async () => {
    const { url } = await plant()
    const events: DoctorProbe[] = []
    const report = await runDoctor({ ...options, url, onProbe: (probe) => void events.push(probe) })
    expect(events).toEqual(report.probes)
  })

  test('puts no secret, signature or body into the report', async () => {
    const { url } = await plant({ key: 'another', isChecked: () => true })
    const apiSecret = 'the_api_secret'
    const text = JSON.stringify(await runDoctor({ ...options, url, apiSecret }))
    for (const secret of [signingSecret, apiSecret, '0xd0c7', 'settlementAmount'])
      expect(text.includes(secret)).toBe(false)
    expect(text).not.toMatch(/[0-9a-f]{64}/)
  })

  test('ends early when nothing can be reached, and says why', async () => {
    const report = await runDoctor({ ...options, url: await deadUrl() })
    expect(report.findings).toMatchObject([{ code: 'connection-refused', verdict: 'fail', probes: ['reachable'] }])
    expect(report).toMatchObject({ passed: 1, failed: 1, warned: 0, notRun: doctorProbeNames.length - 2 })
    expect(report.probes.at(-1)).toMatchObject({ verdict: 'not-run', evidence: 'an earlier probe ended the run' })
  })

  test.each([
    ['http', 'SSH-2.0-server\r\n', 'not-http'],
    ['https', 'HTTP/1.1 204 No Content\r\n\r\n', 'certificate-invalid'],
  ])('over %s with a server that answers %j names %s', async (scheme, bytes, cause) => {
    const report = await runDoctor({ ...options, url: `${scheme}://${await speaking(bytes)}/webhook` })
    expect(report.findings.map(({ code }) => code)).toEqual([cause])
  })

  test('names a redirect without its query', async () => {
    const { url } = await plant({
      before(_, response) {
        response.writeHead(302, { location: 'https://shop.example/log-in\u00e9?token=secret' }).end()
        return true
      },
    })
    const { probes } = await runDoctor({ ...options, url })
    const redirect = probes.find(({ name }) => name === 'redirect')
    expect(redirect).toMatchObject({ verdict: 'fail', cause: { code: 'redirects' } })
    expect(redirect?.evidence).toMatch(/^302 in \d+ ms; to https:\/\/shop\.example\/log-in$/)
  })

  test('that is aborted rejects with the reason', async () => {
    const { url } = await plant()
    const stop = new AbortController()
    const reason = new Error('enough')
    const onProbe = ({ name }: DoctorProbe) => name === 'good' && stop.abort(reason)
    await expect(runDoctor({ ...options, url, signal: stop.signal, onProbe })).rejects.toBe(reason)
  })

  test('that is aborted while an answer is awaited ends at once', async () => {
    const stop = new AbortController()
    const { url } = await plant({
      before() {
        stop.abort()
        return true
      },
    })
    await expect(runDoctor({ ...options, url, signal: stop.signal })).rejects.toThrow()
  })

  test('over http to another machine warns before it sends', async () => {
    const sent: string[] = []
    const report = await runDoctor({
      ...options,
      url: 'http://shop.example/webhook',
      fetch: async (url) => {
        sent.push(url)
        return new Response(null, { status: 404 })
      },
    })
    const found = report.findings.map(({ code, verdict }) => `${code} ${verdict}`)
    expect(found).toEqual(['route-missing fail', 'url-not-https warn'])
    expect(sent).toEqual(['http://shop.example/webhook'])
  })

  test('cancels the unread body of an answer of another realm', async () => {
    const body = runInNewContext('({ locked: false, canceled: 0, async cancel() { this.canceled += 1 } })')
    const answer = { status: 404, headers: new Headers(), body }
    await runDoctor({ ...options, url: 'https://shop.example/webhook', fetch: async () => answer })
    expect(body.canceled).toBe(1)
  })
})

test.each([
  [{ url: 'shop.example' }, TypeError, /^url is no http/],
  [{ url: 'ftp://shop.example' }, TypeError, /^url is no http/],
  [{ url: 'https://user:pass@shop.example' }, TypeError, /^url has a user/],
  [{ signingSecret: '' }, TypeError, /^signingSecret is empty/],
  [{ integrationAddress: '0x12' }, TypeError, /^integrationAddress is not an address/],
  [{ timeoutMs: 0 }, RangeError, /^timeoutMs is 0/],
  [{ seed: -1 }, RangeError, /^seed is -1/],
])('%j is rejected before anything is sent', async (change, type, message) => {
  const sent: unknown[] = []
  const fetch = async () => {
    sent.push(1)
    return new Response()
  }
  const run = runDoctor({ ...options, url: 'https://shop.example/webhook', fetch, ...change })
  await expect(run).rejects.toThrow(type)
  await expect(run).rejects.toThrow(message)
  expect(sent).toEqual([])
})

test('a receiver that fails for everything is advised to read its log, and gets no line about raw bytes', () => {
  const summary = expect.stringMatching(/^Read the log of the receiver/)
  expect(getFix('fails-before-verifying')).toEqual({ summary, lines: {} })
})

test('each cause has a remedy with a line of each framework, or one outside the program', async () => {
  expect(new Set(doctorCauseCodes).size).toBe(doctorCauseCodes.length)
  for (const code of doctorCauseCodes) {
    const { summary, lines } = getFix(code)
    expect(summary.length, code).toBeGreaterThan(20)
    expect([0, doctorFrameworks.length], code).toContain(Object.keys(lines).length)
    expect(getCause(code).sentence).toMatch(/\.$/)
  }
})
