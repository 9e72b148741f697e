import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createBuilders, createDeliveries, createFakeClock } from '@payment-integration/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

const secret = 'pi_whsec_Zm9yIHRlc3RzIG9ubHksIG5ldmVyIGlzc3VlZA'
const apiSecret = 'pi_api_YW5vdGhlciB0ZXN0IHZhbHVlLCBub3QgYSBzZWNyZXQ'
const clock = createFakeClock()
const snapshot = createBuilders({ seed: 5, clock }).snapshot()
const good = await createDeliveries({ secret, clock }).good(snapshot)
const body = new TextDecoder().decode(good.body)
const head = Object.entries(good.headers).map(([name, value]) => `${name}: ${value}`)
const raw = (text = body, lines = head) => `POST /webhook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`
const usual = { WEBHOOK_SIGNING_SECRET: secret }

async function explain(input: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = usual) {
  const io = testIo({ env, now: clock.now, input: () => Readable.from([Buffer.from(input)]) })
  const exitCode = await runCli(['explain', ...args], io)
  return { exitCode, io, out: io.lines.join('\n'), err: io.errors.join('\n') }
}

function getFile(name: string, content: string | Uint8Array): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, content)
  return path
}

describe('explain', () => {
  it('exits with 0 for a genuine delivery, and names the secret', async () => {
    const { exitCode, io, err } = await explain(raw())
    expect([exitCode, err]).toEqual([0, ''])
    expect(io.lines).toEqual([
      'Verified: WEBHOOK_SIGNING_SECRET signed these bytes.',
      '',
      'Signature header: t (ok, 10 characters), v1 (ok, 64 characters).',
      'Age: 0 s; up to 300 s on either side are accepted.',
      `Body: ${good.body.length} bytes; signed with its time: ${good.body.length + 11} bytes.`,
    ])
  })

  it('exits with 1, with verdict, cause, evidence, and a line for each framework', async () => {
    const { exitCode, io } = await explain(raw(JSON.stringify(snapshot, null, 2)))
    expect(exitCode).toBe(1)
    const verdict = 'Not verified: The body was parsed as JSON and written again, with other blanks or escapes.'
    expect(io.lines[0]).toBe(verdict)
    expect(io.lines).toContain('1. body_reencoded (proved)')
    expect(io.lines).toContain('   Evidence: It is indented.')
    expect(io.lines).toContain('   Change:   Verify the raw bytes before any JSON parser.')
    const frameworks = 'Express, Fastify, Hono, Next app, Next pages, Nest, Koa, Worker, Lambda, Node'.split(', ')
    const at = io.lines.indexOf('The raw body in your framework:') + 1
    const named = io.lines.slice(at, at + frameworks.length).map((line) => line.trim().split(/ {2,}/)[0])
    expect(named).toEqual(frameworks)
  })

  it('prints the line of the framework that ./package.json lists, and no other', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'package.json'), '{"dependencies":{"express":"5"}}')
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(folder)
    const { io } = await explain(raw(JSON.stringify(snapshot, null, 2)))
    const at = io.lines.indexOf('The raw body in your framework:')
    expect(io.lines.slice(at + 1, at + 3)).toEqual([expect.stringMatching(/^ {2}Express /), ''])
  })

  it('prints one JSON object with --json', async () => {
    const { exitCode, io } = await explain(raw(`${body}\n`), ['--json'])
    expect(exitCode).toBe(1)
    const [event, ...others] = getEvents(io)
    expect(others).toEqual([])
    expect(event).toMatchObject({ event: 'explanation', form: 'http', verified: false, signature: 'repaired' })
    expect(event?.['findings']).toMatchObject([{ code: 'body_newline', proved: true }])
  })

  it('reads a file, and headers and body apart', async () => {
    expect((await explain('', [getFile('request.txt', raw())])).exitCode).toBe(0)
    const apart = ['--headers', getFile('head.txt', head.join('\n')), '--body', getFile('body.json', body)]
    expect((await explain('', apart)).exitCode).toBe(0)
    const utf16 = ['--headers', getFile('head16.txt', Buffer.from(`\ufeff${head.join('\r\n')}`, 'utf16le'))]
    expect((await explain('', [...utf16, ...apart.slice(2)])).exitCode).toBe(0)
    expect((await explain(body, [...apart.slice(0, 2), '--body', '-'])).exitCode).toBe(0)
    const curl = `curl ${head.map((line) => `-H '${line}'`).join(' ')} --data-binary @body.json`
    expect((await explain(curl, apart.slice(2))).exitCode).toBe(0)
  })

  it('takes the time of receipt from --now', async () => {
    const late = String(Math.floor(clock.now() / 1_000) + 400)
    const { exitCode, out } = await explain(raw(), ['--now', late])
    expect(exitCode).toBe(1)
    expect(out).toContain('Not verified, although the signature matches: The delivery was signed too long ago')
    expect(out).toContain('Age: 400 s (7 min)')
  })

  it('takes secrets from variables and files, previous and API secrets too', async () => {
    const envFile = getFile('receiver.env', `WEBHOOK_SIGNING_SECRET=${secret}\n`)
    expect((await explain(raw(), ['--env-file', envFile], {})).exitCode).toBe(0)
    const file = getFile('secret.txt', `${secret}\n`)
    expect((await explain(raw(), ['--secret-file', file], {})).out).toContain('secret_whitespace (proved)')
    const both = ['--secret-env', 'A', '--secret-env', 'B']
    expect((await explain(raw(), both, { A: 'pi_whsec_old', B: secret })).out).toContain('Verified: B signed')
    const rotated = ['--secret-env', 'NEW', '--previous-secret-env', 'OLD']
    expect((await explain(raw(), rotated, { NEW: 'pi_whsec_new', OLD: secret })).out).toContain('secret_previous')
    const swapped = ['--secret-env', 'A', '--api-secret-env', 'B']
    expect((await explain(raw(), swapped, { A: apiSecret, B: secret })).out).toContain('secrets_swapped (proved)')
  })

  it('prints no secret, signature or value of the body, whatever is wrong', async () => {
    const signature = good.headers['X-Service-Signature']?.slice(-20) ?? ''
    const env = { ...usual, API: apiSecret, PADDED: ` ${secret}`, OTHER: apiSecret }
    const delivered = [raw(), raw(''), raw(JSON.stringify(snapshot, null, 1)), raw(body, head.slice(0, 1))]
    const variants = [...delivered, 'nonsense', `${secret}`, `curl -H '${secret}' -d ${secret}`]
    for (const input of variants)
      for (const name of ['WEBHOOK_SIGNING_SECRET', 'PADDED', 'OTHER']) {
        const { out, err } = await explain(input, ['--secret-env', name, '--api-secret-env', 'API'], env)
        for (const part of [secret.slice(9, 19), secret.slice(-10), apiSecret.slice(7, 17), signature, snapshot.txHash])
          expect(out + err).not.toContain(part)
      }
  })

  it.each<[string, string, string[], Record<string, string>, string]>([
    ['without a secret', raw(), [], {}, 'WEBHOOK_SIGNING_SECRET is not set'],
    ['with an unset variable', raw(), ['--secret-env', 'NONE'], usual, 'NONE is not set'],
    ['with a secret as argument', raw(), ['--secret-env', secret], usual, 'not a secret'],
    ['with prose', 'Hello', [], usual, 'Name: value'],
    ['with headers alone', '', ['--headers', 'x'], usual, 'pass --body too'],
    ['with standard input twice', '', ['--headers', '-', '--body', '-'], usual, 'read only once'],
    ['with a missing file', '', ['no-such-folder/request.txt'], usual, 'ENOENT'],
    ['with a wrong time', '', ['--now', 'today'], usual, 'whole number'],
  ])('%s exits with 2', async (_, input, args, env, sentence) => {
    const { exitCode, out, err } = await explain(input, args, env)
    expect(err).toContain(sentence)
    expect(err).not.toContain(secret)
    expect([exitCode, out]).toEqual([2, ''])
  })
})
