import { runDoctor } from '@payment-integration/testing/doctor'
import { expect, onTestFinished, test } from 'vitest'
import { runWorker } from './workerd.js'

test('the Worker passes the doctor in workerd', async () => {
  const secret = 'whsec_of_the_worker'
  const worker = await runWorker({ secret, shopToken: 'token_of_the_shop' })
  onTestFinished(() => worker.remove())
  const report = await runDoctor({
    url: `${worker.url}/webhook`,
    signingSecret: secret,
    integrationAddress: `0x${'ab'.repeat(20)}`,
    timeoutMs: 120_000,
  })
  expect(report.findings).toEqual([])
  expect(report.notRun).toBe(0)
})
