import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createTestDelivery } from './test-delivery.js'

const secret = 'whsec_of_the_readme'

test('the receiver of the README takes what is signed, and rejects what is not or does not end', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [code = '', sender = ''] = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, block]) => block)
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const env = { ...process.env, PORT: `${port}`, WEBHOOK_SIGNING_SECRET: secret }
  const child = spawn(process.execPath, [...flags, code], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let logged = ''
  child.stderr.on('data', (data: Buffer) => {
    logged += data.toString()
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/`
  const listening = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await vi.waitUntil(listening, { timeout: 300_000, interval: 50 })

  const send = async (fault?: 'forged' | 'tampered' | 'unsigned', ageSeconds = 0) =>
    (await fetch(url, { method: 'POST', ...(await createTestDelivery({ secret, fault, ageSeconds })) })).status
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, sender], { cwd, env })
  expect(stdout).toBe('204\n')
  expect(await send()).toBe(204)
  expect([await send('forged'), await send('tampered'), await send('unsigned')]).toEqual([401, 401, 401])
  expect(await send(undefined, 400)).toBe(400)
  await vi.waitUntil(() => /signed too long ago by this clock/.test(logged), { timeout: 300_000 })
  expect(logged).toMatch(/No signing secret gives this signature/)

  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      if (++pulled > 1000) controller.close()
      else controller.enqueue(new Uint8Array(65_536))
    },
  })
  expect((await fetch(url, { method: 'POST', body: endless, duplex: 'half' } as RequestInit)).status).toBe(413)
  expect(pulled).toBeLessThan(500)
  expect(await send()).toBe(204)
})
