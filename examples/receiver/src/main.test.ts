import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTestDelivery } from '@payment-integration/webhook/testing'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram, whenEnded } from '../../../packages/testing/test/run-program.js'

function start(secrets: string) {
  const folder = mkdtempSync(join(tmpdir(), 'receiver-main-'))
  const env = { WEBHOOK_SIGNING_SECRET: secrets, DATABASE: join(folder, 'receiver.db'), PORT: '0' }
  const child = startProgram(new URL('main.ts', import.meta.url), env)
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    rmSync(folder, { recursive: true })
  })
  return child
}

test('deliveries of both secrets of a rotation are accepted, a third secret is not', async () => {
  const child = start('whsec_new, whsec_old')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const [url = ''] = /http:\S+/.exec(line) ?? []
  const post = async (secret: string) =>
    (await fetch(url, { method: 'POST', ...(await createTestDelivery({ secret })) })).status
  expect([await post('whsec_new'), await post('whsec_old'), await post('whsec_other')]).toEqual([204, 204, 401])
})

test.each(['', ' , '])('with %j for secrets it names the variable to set, and exits with 2', async (secrets) => {
  const err = expect.stringContaining('Set WEBHOOK_SIGNING_SECRET')
  expect(await whenEnded(start(secrets))).toMatchObject({ exitCode: 2, err })
})
