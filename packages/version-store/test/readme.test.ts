import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTestDelivery, createTestSnapshot } from '@payment-integration/webhook/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { drivers } from './drivers.js'

const secret = 'whsec_of_the_readme'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('the receiver of the README takes new versions, drops repeated and overtaken ones, and refuses forgeries', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'version-store-readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync(new URL('../README.md', import.meta.url), 'utf8')) ?? []
  const port = await freePort()
  const path = join(folder, 'receiver.db')
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const child = spawn(process.execPath, flags, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, PORT: `${port}`, DATABASE_PATH: path, WEBHOOK_SIGNING_SECRET: secret },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/`
  const listening = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await vi.waitUntil(listening, { timeout: 20_000, interval: 50 })

  const send = async (version: number, state: string, fault?: 'forged', chainId = '8453') => {
    const snapshot = createTestSnapshot({ version, state, chainId })
    const delivery = await createTestDelivery({ secret, snapshot, fault })
    return (await fetch(url, { method: 'POST', ...delivery })).status
  }
  expect(await send(1, 'pending')).toBe(204)
  expect(await send(3, 'refund_pending')).toBe(204)
  expect(await send(3, 'refund_pending')).toBe(204)
  expect(await send(2, 'success')).toBe(204)
  expect(await send(4, 'refund_success', 'forged')).toBe(401)
  // The same hash on another chain is another payment.
  expect(await send(1, 'failure', undefined, '1')).toBe(204)

  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      if (++pulled > 1000) controller.close()
      else controller.enqueue(new Uint8Array(65_536))
    },
  })
  expect((await fetch(url, { method: 'POST', body: endless, duplex: 'half' } as RequestInit)).status).toBe(413)
  expect(pulled).toBeLessThan(500)

  child.kill('SIGKILL')
  await once(child, 'exit')
  const database = drivers[0].open(path)
  expect(database.prepare('SELECT chain_id, state FROM orders ORDER BY chain_id').all()).toEqual([
    { chain_id: '1', state: 'failure' },
    { chain_id: '8453', state: 'refund_pending' },
  ])
  database.close()
}, 30_000)
