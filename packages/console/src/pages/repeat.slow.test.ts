/** Runs the command and the test that repeat a delivery, as a person pastes them. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createVerifier } from '@payment-integration/webhook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedPages, servePages } from '../../test/chromium.js'
import { repeatedDelivery } from '../../test/repeated-delivery.js'
import { writeCurlCommand, writeDeliveryTest } from './repeat.js'

const run = promisify(execFile)
const delivery = repeatedDelivery()
const secret = "pi_whsec_it's a $ecret"

describe('the command', () => {
  let served: ServedPages
  let url: string
  const received: { readonly body: string; readonly verdict: string }[] = []

  beforeAll(async () => {
    const { verify } = createVerifier({ secrets: secret })
    async function receive(request: Request) {
      const body = new Uint8Array(await request.arrayBuffer())
      const verified = verify({ headers: request.headers, body })
      const verdict = await verified.then(() => 'verified').catch((error: Error) => error.message)
      received.push({ body: new TextDecoder().decode(body), verdict })
      return new Response()
    }
    served = await servePages(() => ({ fetch: receive }))
    url = `${served.origin}/it's`
  })
  afterAll(() => served?.close())

  const paste = (command: string, env: Record<string, string>) =>
    run('sh', ['-c', command], { env: { PATH: process.env['PATH'] ?? '', ...env } })

  it('posts the same bytes, and a receiver verifies them', async () => {
    await paste(writeCurlCommand({ ...delivery, url }), { WEBHOOK_SECRET: secret })
    expect(received.at(-1)).toEqual({ body: delivery.text, verdict: 'verified' })
  })

  it.each([null, 'https://shop.example/hook?key=1', 'https://me:word@shop.example/hook'])(
    'with the URL %s it reads the URL from the environment',
    async (hidden) => {
      const command = writeCurlCommand({ ...delivery, url: hidden })
      expect(command).not.toMatch(/key=1|me:word/)
      await paste(command, { WEBHOOK_SECRET: secret, WEBHOOK_URL: url })
      expect(received.at(-1)).toEqual({ body: delivery.text, verdict: 'verified' })
    },
  )

  it('without the secret it sends nothing, and says what to set', async () => {
    const before = received.length
    await expect(paste(writeCurlCommand({ ...delivery, url }), {})).rejects.toThrow(
      'Set it to the signing secret of 0xa1a1',
    )
    expect(received).toHaveLength(before)
  })
})

describe('the test', () => {
  const root = join(import.meta.dirname, '../../../..')
  let folder: string

  beforeAll(async () => {
    // Inside the workspace, so that the packages resolve.
    folder = await mkdtemp(join(import.meta.dirname, '../../.pasted-'))
    const conditions = `['@payment-integration/source']`
    await writeFile(
      join(folder, 'vitest.config.js'),
      `export default { resolve: { conditions: ${conditions} },
        ssr: { resolve: { conditions: ${conditions}, externalConditions: ${conditions} } } }`,
    )
    await writeFile(join(folder, 'delivery.test.js'), writeDeliveryTest(delivery))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function vitest(receiver: string): Promise<string> {
    await writeFile(join(folder, 'receiver.js'), receiver)
    const cli = join(root, 'node_modules/vitest/vitest.mjs')
    const env = { PATH: process.env['PATH'] ?? '', NO_COLOR: '1' }
    return run(process.execPath, [cli, 'run', '--root', folder], { cwd: folder, env }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    )
  }

  it('passes with a correct receiver', async () => {
    const output = await vitest(`import { createVerifier } from '@payment-integration/webhook'
import { createFetchHandler } from '@payment-integration/webhook/fetch'
export function createHandler({ signingSecret, clock }) {
  const { verify } = createVerifier({ secrets: signingSecret, clock })
  return createFetchHandler({ receive: (delivery) => verify(delivery) })
}
`)
    expect(output).toMatch(/Tests +1 passed/)
  })

  it('fails with a receiver that parses the body before it verifies', async () => {
    const output = await vitest(`import { createVerifier } from '@payment-integration/webhook'
export function createHandler({ signingSecret, clock }) {
  const { verify } = createVerifier({ secrets: signingSecret, clock })
  return async (request) => {
    const body = new TextEncoder().encode(JSON.stringify(await request.json(), null, 2))
    return verify({ headers: request.headers, body }).then(
      () => new Response(null, { status: 204 }),
      () => new Response(null, { status: 401 }),
    )
  }
}
`)
    expect(output).toMatch(/Tests +1 failed/)
  })
})
