import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { doctorFrameworks, doctorProbeNames } from '@payment-integration/testing/doctor'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { createNodeHandler } from '@payment-integration/webhook/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, type TestIo, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'

const secret = 'whsec_of_the_doctor_command'
const address = `0x${'ab'.repeat(20)}`
const env = { WEBHOOK_SIGNING_SECRET: secret, INTEGRATION_ADDRESS: address }
/** No verdict depends on the speed of this machine. */
const unhurried = ['--timeout', '5m']

async function listening(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handler)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`
}

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
    expect(errors).toBe('')
    expect(lines[0]).toBe(`Probing ${url}. The hashes of all test payments begin with 0xd0c70000.`)
    expect(lines.slice(2, -2).map((line) => line.split(/\s+/).slice(0, 2))).toEqual(
      doctorProbeNames.map((name) => ['pass', name]),
    )
    expect(lines.at(-1)).toBe(`${doctorProbeNames.length} passed, 0 failed, 0 with a warning, 0 not run.`)
    expect(exitCode).toBe(0)
  })

  it('prints each cause once with its probes and the line of each framework, and exits with 1', async () => {
    const url = await getReceiver('whsec_of_another')
    const { exitCode, lines } = await doctor([url, ...unhurried])
    const at = lines.findIndex((line) => line.startsWith('fail  wrong-secret: '))
    expect(lines[at + 1]).toMatch(/^ {2}seen by good, pretty-printed, /)
    const shown = lines.slice(at + 3, at + 3 + doctorFrameworks.length).map((line) => line.trim().split(' ')[0])
    expect(shown).toEqual(doctorFrameworks)
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
    const shown = lines.slice(at + 3).filter((line) => line.startsWith('    '))
    expect(shown.map((line) => line.trim().split(' ')[0])).toEqual(frameworks)
  })

  it('prints only JSON objects with --json: started, probes, findings, report', async () => {
    const url = await listening((request, response) => {
      request.resume()
      response.writeHead(302, { location: 'https://shop.example/log-in' }).end()
    })
    const { exitCode, io } = await doctor([url, ...unhurried, '--json'])
    const events = getEvents(io)
    expect(events.map(({ event }) => event)).toEqual([
      'started',
      ...doctorProbeNames.map(() => 'probe'),
      'finding',
      'report',
    ])
    expect(events.at(-2)).toMatchObject({ code: 'redirects', verdict: 'fail', probes: ['redirect'] })
    expect(events.at(-1)).toMatchObject({ failed: 1, passed: 2, url })
    expect(exitCode).toBe(1)
  })

  it('colours verdicts on a terminal only', async () => {
    const url = await listening((_, response) => void response.writeHead(404).end())
    const plain = await doctor([url, ...unhurried])
    expect(plain.lines.join()).not.toContain('\u001b')
    const coloured = await doctor([url, ...unhurried], env, { colour: true })
    expect(coloured.lines.join()).toContain('\u001b[31mfail')
  })

  it('prints no secret and no signature', async () => {
    const url = await getReceiver('whsec_of_another')
    const { lines } = await doctor([url, ...unhurried, '--json'], { ...env, API_SECRET: 'api_secret_of_it' })
    expect(lines.join()).not.toMatch(/whsec|api_secret_of_it|[0-9a-f]{64}/)
  })

  it('ends with 1 and no verdict when it is interrupted', async () => {
    const io = testIo({ env })
    const url = await listening(() => io.interrupt())
    expect(await runCli(['doctor', url], io)).toBe(1)
    expect(io.errors).toEqual(['Interrupted before the last probe: there is no verdict.'])
  })
})

describe('credentials of the doctor', () => {
  const folder = () => temporaryFolder()
  const written = (text: string) => {
    const path = join(folder(), 'file')
    writeFileSync(path, text)
    return path
  }

  it.each<[string, (path: string) => [string[], Record<string, string>], string]>([
    [
      'in --env-file',
      (path) => [['--env-file', path], {}],
      `WEBHOOK_SIGNING_SECRET="${secret}"\nINTEGRATION_ADDRESS=${address}\n`,
    ],
    [
      'in the first of several secrets',
      (path) => [['--env-file', path], {}],
      `WEBHOOK_SIGNING_SECRETS=${secret},old\nINTEGRATION_ADDRESS=${address}`,
    ],
    [
      'in another variable',
      (path) => [['--env-file', path, '--secret-env', 'HOOK'], { INTEGRATION_ADDRESS: address }],
      `HOOK=${secret}`,
    ],
    [
      'in --secret-file',
      (path) => [['--secret-file', path, '--integration', address.toUpperCase().replace('0X', '0x')], {}],
      `${secret}\n`,
    ],
    [
      'in the environment before the file',
      (path) => [['--env-file', path], env],
      'WEBHOOK_SIGNING_SECRET=other\nINTEGRATION_ADDRESS=0x1',
    ],
  ])('are found %s', async (_, options, text) => {
    const [args, variables] = options(written(text))
    const { exitCode, errors } = await doctor([await getReceiver(secret), ...unhurried, ...args], variables)
    expect(errors).toBe('')
    expect(exitCode).toBe(0)
  })

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['no secret', ['--env-file', '/dev/null'], { INTEGRATION_ADDRESS: address }, /^Set WEBHOOK_SIGNING_SECRET to/],
    ['an empty variable', ['--env-file', '/dev/null', '--secret-env', 'HOOK'], { ...env, HOOK: ' ' }, /^Set HOOK to/],
    ['no address', ['--env-file', '/dev/null'], { WEBHOOK_SIGNING_SECRET: secret }, /^Pass --integration/],
    ['a wrong address', [], { ...env, INTEGRATION_ADDRESS: '0x1' }, /^INTEGRATION_ADDRESS is no address/],
    ['two secrets', ['--secret-env', 'A', '--secret-file', 'b'], env, /exclude each other/],
    ['a missing file', ['--env-file', '/nowhere/.env'], env, /^The file of --env-file cannot be read \(ENOENT\)/],
    ['a folder', ['--secret-file', '/'], env, /^The file of --secret-file cannot be read \(EISDIR\)/],
    ['an empty secret file', ['--secret-file', '/dev/null'], env, /is empty/],
    ['a huge file', ['--secret-file', '/dev/zero'], env, /larger than 64 KiB/],
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

  it.each([[['shop.example']], [['https://user:pass@shop.example']], [[]], [['http://a.example', '--timeout', '0']]])(
    'with the arguments %j exits with 2',
    async (args) => {
      expect((await doctor(args)).exitCode).toBe(2)
    },
  )
})
