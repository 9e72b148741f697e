import { expect, test } from 'vitest'
import { startProgram, whenEnded } from '../../../packages/testing/test/run-program.js'

test.each([
  ['', /^Set DATABASE_URL, .*RECEIVER_ADDRESS/],
  ['0x12', /^RECEIVER_ADDRESS is no address/],
  ['shop', /^RECEIVER_ADDRESS is no address/],
])('with %j for RECEIVER_ADDRESS it names the variable to set, and exits with 2', async (receiver, message) => {
  const child = startProgram(new URL('main.ts', import.meta.url), {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    PAYMENTS_URL: 'http://127.0.0.1:1',
    INTEGRATION_ADDRESS: `0x${'ab'.repeat(20)}`,
    RECEIVER_ADDRESS: receiver,
    API_SECRET: 'secret',
    WEBHOOK_SIGNING_SECRETS: 'secret',
  })
  expect(await whenEnded(child)).toMatchObject({ exitCode: 2, err: expect.stringMatching(message) })
})
