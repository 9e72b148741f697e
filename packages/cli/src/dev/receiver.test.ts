import { join } from 'node:path'
import { signDelivery } from '@payment-integration/webhook/signing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { type ReceiverAnswer, startDemoReceiver } from './receiver.js'

const secret = 'whsec_0123456789abcdef0123456789abcdef'
const snapshot = {
  ...{ integrationAddress: `0x${'11'.repeat(20)}`, chainId: '31337', txHash: `0x${'ab'.repeat(32)}` },
  ...{ version: 1, state: null, recipient: null, invoice: null },
}

async function receiver(issued: () => string | undefined = () => secret) {
  const answers: ReceiverAnswer[] = []
  const rejections: { code: string; status: number }[] = []
  const started = await startDemoReceiver({
    databasePath: join(temporaryFolder(), 'receiver.db'),
    secret: issued,
    now: () => Date.now(),
    onAnswer: (answer) => answers.push(answer),
    onRejection: (rejection) => rejections.push(rejection),
  })
  onTestFinished(() => started.close())
  async function post(text: string) {
    const body = new TextEncoder().encode(text)
    const signature = await signDelivery({ secret, timestamp: Math.floor(Date.now() / 1000), body })
    const headers = {
      'content-type': 'application/json',
      'x-service-integration': snapshot.integrationAddress,
      'x-service-signature': signature,
    }
    return (await fetch(started.url, { method: 'POST', headers, body })).status
  }
  return { ...started, post, answers, rejections }
}

describe('startDemoReceiver', () => {
  it('rejects every delivery before the secret is issued', async () => {
    const { post, answers } = await receiver(() => undefined)
    expect(await post(JSON.stringify(snapshot))).toBeGreaterThanOrEqual(400)
    expect(answers).toEqual([])
  })

  it('rejects a body of more than 64 KiB with 413 and reports it', async () => {
    const { post, rejections } = await receiver()
    for (const length of [70_000, 3_000_000]) expect(await post('x'.repeat(length))).toBe(413)
    const rejection = { code: 'ERR_BODY_TOO_LARGE', status: 413 }
    expect(rejections).toEqual([rejection, rejection])
  })

  it('has one path and one method', async () => {
    const { url } = await receiver()
    expect((await fetch(url)).status).toBe(404)
    expect((await fetch(new URL('/other', url), { method: 'POST' })).status).toBe(404)
  })
})
