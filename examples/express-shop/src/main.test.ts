import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test.each([
  ['', /^Set DATABASE_URL, .*RECEIVER_ADDRESS/],
  ['0x12', /^RECEIVER_ADDRESS is no address/],
  ['shop', /^RECEIVER_ADDRESS is no address/],
])('with %j for RECEIVER_ADDRESS it names the variable to set, and exits with 2', async (receiver, message) => {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx']
  const child = spawn(process.execPath, [...flags, fileURLToPath(new URL('main.ts', import.meta.url))], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      PAYMENTS_URL: 'http://127.0.0.1:1',
      INTEGRATION_ADDRESS: `0x${'ab'.repeat(20)}`,
      RECEIVER_ADDRESS: receiver,
      API_SECRET: 'secret',
      WEBHOOK_SIGNING_SECRETS: 'secret',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  expect(said).toMatch(message)
  expect(code).toBe(2)
})
