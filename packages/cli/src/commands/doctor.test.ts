import { writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { doctorFrameworks, doctorProbeNames } from '@payment-integration/testing/doctor'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { createNodeHandler } from '@payment-integration/webhook/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveHttp } from '../../test/serve-http.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, type TestIo, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

const secret = 'whsec_of_the_doctor_command'
const address = `0x${'ab'.repeat(20)}`
const addressOnly = { INTEGRATION_ADDRESS: address }
const env = { WEBHOOK_SIGNING_SECRET: secret, ...addressOnly }
/** No verdict depends on the speed of this machine. */
const unhurried = ['--timeout', '5m']

const listening = async (handler: RequestListener) => `${await serveHttp(handler)}/webhook`

/** A correct receiver with a secret. */
function getReceiver(secrets: string): Promise<string> {
  const { verify } = createVerifier({ secrets })
  const { receive } = createReceiver({ verify, store: createMemoryVersionStore(), handle: () => undefined })
  return listening(createNodeHandler({ receive, onError: () => undefined }))
}

async function doctor(args: readonly string[], variables: Record<string, string> = env, changes: Partial<TestIo> = {}) {
  const io = testIo({ env: variables, ...changes })
  const exitCode = await runCli(['doctor', ...args], io)
  return { exitCode, io, lines: io.lines, errors: io.errors.join('\n') }
}

describe('doctor', () => {
  it('prints a row for each probe and a summary, and exits with 0 when all passed', async () => {
    const url = await getReceiver(secret)
    const { exitCode, lines, errors } = await doctor([url, ...unhurried])
    expect([exitCode, errors]).toEqual([0, ''])
    expect(lines[0]).toBe(`Probing ${url}. The hashes of all test payments begin with 0xd0c70000.`)
    const probes = lines.slice(2, -2).map((line) => line.split(/\s+/).slice(0, 2))
    expect(probes).toEqual(doctorProbeNames.map((name) => ['pass', name]))
    expect(lines.at(-1)).toBe(`${doctorProbeNames.length} passed, 0 failed, 0 with a warning, 0 not run.`)
  })

  it('prints no secret and no signature', async () => {
    const variables = { ...env, API_SECRET: 'api_secret_of_it' }
    const { lines } = await doctor([await getReceiver('whsec_of_another'), ...unhurried, '--json'], variables)
    expect(lines.join()).not.toMatch(/whsec|api_secret_of_it|[0-9a-f]{64}/)
  })

  it('prints each cause once with its probes and the line of each framework, and exits with 1', async () => {
    const url = await getReceiver('whsec_of_another')
    const { exitCode, lines } = await doctor([url, ...unhurried])
    const at = lines.findIndex((line) => line.startsWith('fail  wrong-secret: '))
    expect(lines[at + 1]).toMatch(/^ {2}seen by good, pretty-printed, /)
    const names = lines.slice(at + 3, at + 3 + doctorFrameworks.length).map((line) => line.trim().split(' ')[0])
    expect(names).toEqual(doctorFrameworks)
    expect(exitCode).toBe(1)
  })

  it.each([
    ['the dependencies of ./package.json', '{"dependencies":{"@nestjs/core":"11","express":"5"}}', [], ['nest']],
    ['a package with two kinds of routes', '{"devDependencies":{"next":"16"}}', [], ['next-app', 'next-pages']],
    ['--framework before package.json', '{"dependencies":{"express":"5"}}', ['--framework', 'koa'], ['koa']],
    ['no framework', '{"name":"shop"}', [], doctorFrameworks],
    ['a package.json that is no JSON', '{', [], doctorFrameworks],
  ])('prints the lines of %s', async (_, manifest, args, frameworks) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'package.json'), manifest)
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(folder)
    const { lines } = await doctor([await getReceiver('whsec_of_another'), ...unhurried, ...args])
    const at = lines.findIndex((line) => line.startsWith('fail  wrong-secret: '))
    const codeLines = lines.slice(at + 3).filter((line) => line.startsWith('    '))
    expect(codeLines.map((line) => line.trim().split(' ')[0])).toEqual(frameworks)
  })

  it('prints only JSON objects with --json: started, probes, findings, report', async () => {
    const url = await listening((request, response) => {
      request.resume()
      response.writeHead(302, { location: 'https://shop.example/log-in' }).end()
    })
    const { exitCode, io } = await doctor([url, ...unhurried, '--json'])
    const events = getEvents(io)
    const probes = doctorProbeNames.map(() => 'probe')
    expect(events.map(({ event }) => event)).toEqual(['started', ...probes, 'finding', 'report'])
    expect(events.at(-2)).toMatchObject({ code: 'redirects', verdict: 'fail', probes: ['redirect'] })
    expect(events.at(-1)).toMatchObject({ failed: 1, passed: 2, url })
    expect(exitCode).toBe(1)
  })

  it('colors verdicts on a terminal only', async () => {
    const url = await listening((_, response) => void response.writeHead(404).end())
    const plain = await doctor([url, ...unhurried])
    expect(plain.lines.join()).not.toContain('\u001b')
    const colored = await doctor([url, ...unhurried], env, { color: true })
    expect(colored.lines.join()).toContain('\u001b[31mfail')
  })

  it('ends with 1 and no verdict when it is interrupted', async () => {
    const io = testIo({ env })
    const url = await listening(() => io.interrupt())
    expect(await runCli(['doctor', url], io)).toBe(1)
    expect(io.errors).toEqual(['Interrupted before the last probe: there is no verdict.'])
  })
})

describe('credentials of the doctor', () => {
  const written = (text: string) => {
    const path = join(temporaryFolder(), 'file')
    writeFileSync(path, text)
    return path
  }

  it.each<[string, string, string, Record<string, string>]>([
    ['in --env-file', `WEBHOOK_SIGNING_SECRET="${secret}"\nINTEGRATION_ADDRESS=${address}\n`, '--env-file', {}],
    ['in the first of several secrets', `WEBHOOK_SIGNING_SECRETS=${secret},old`, '--env-file', addressOnly],
    ['in another variable', `HOOK=${secret}`, '--secret-env HOOK --env-file', addressOnly],
    ['in --secret-file', `${secret}\n`, `--integration 0x${'AB'.repeat(20)} --secret-file`, {}],
  ])('are found %s', async (_, text, options, variables) => {
    const args = [...options.split(' '), written(text)]
    const { exitCode, errors } = await doctor([await getReceiver(secret), ...unhurried, ...args], variables)
    expect([exitCode, errors]).toEqual([0, ''])
  })

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['no secret', ['--env-file', '/dev/null'], addressOnly, /^Set WEBHOOK_SIGNING_SECRET to/],
    ['an empty variable', ['--env-file', '/dev/null', '--secret-env', 'HOOK'], { ...env, HOOK: ' ' }, /^Set HOOK to/],
    ['no address', ['--env-file', '/dev/null'], { WEBHOOK_SIGNING_SECRET: secret }, /^Pass --integration/],
    ['a wrong address', [], { ...env, INTEGRATION_ADDRESS: '0x1' }, /^INTEGRATION_ADDRESS is not an address/],
    ['two secrets', ['--secret-env', 'A', '--secret-file', 'b'], env, /exclude each other/],
    ['a missing file', ['--env-file', '/nowhere/.env'], env, /^--env-file cannot be read \(ENOENT\)/],
    ['an empty secret file', ['--secret-file', '/dev/null'], env, /is empty/],
  ])('with %s exits with 2 and sends nothing', async (_, args, variables, message) => {
    const sent: unknown[] = []
    const url = await listening((request) => void sent.push(request))
    const { exitCode, errors } = await doctor([url, ...args], variables)
    expect(errors).toMatch(message)
    expect([exitCode, sent.length]).toEqual([2, 0])
  })

  it.each(['0s', '0ms', '11m', '1d'])('with --timeout %s exits with 2 before it prints a line', async (timeout) => {
    const { exitCode, lines, errors } = await doctor(['http://127.0.0.1:1/', '--timeout', timeout])
    expect([exitCode, lines]).toEqual([2, []])
    expect(errors).toContain('Expected a time from 1ms to 10m.')
  })

  it.each([[['shop.example']], [['https://user:pass@shop.example']], [[]]])(
    'with the arguments %j exits with 2',
    async (args) => expect((await doctor(args)).exitCode).toBe(2),
  )
})
