import { expect, test, vi } from 'vitest'
import { readBlocks, runCode, startReceiver } from '../test/run-code.js'
import { createTestDelivery } from './test-delivery.js'

const secret = 'whsec_of_the_readme'

test('the receiver of the README takes what is signed, and rejects what is not or does not end', async () => {
  const [code = '', sender = ''] = readBlocks('packages/webhook/README.md', 'js')
  const cwd = new URL('..', import.meta.url)
  const env = { WEBHOOK_SIGNING_SECRET: secret }
  const { port, logged, post, postEndless } = await startReceiver({ code, cwd, env })
  const send = async (fault?: 'forged' | 'tampered' | 'unsigned', ageSeconds = 0) =>
    post(await createTestDelivery({ secret, fault, ageSeconds }))
  expect((await runCode({ code: sender, cwd, env: { ...env, PORT: port } })).stdout).toBe('204\n')
  expect(await send()).toBe(204)
  expect([await send('forged'), await send('tampered'), await send('unsigned')]).toEqual([401, 401, 401])
  expect(await send(undefined, 400)).toBe(400)
  await vi.waitUntil(() => /signed too long ago by this clock/.test(logged()), { timeout: 300_000 })
  expect(logged()).toMatch(/No signing secret gives this signature/)
  const [status, pulled] = await postEndless()
  expect(status).toBe(413)
  expect(pulled).toBeLessThan(500)
  expect(await send()).toBe(204)
})
