import { buffer } from 'node:stream/consumers'
import { verifySignature } from '@payment-integration/webhook'
import { describe, expect, it } from 'vitest'
import { serveHttp } from '../../test/serve-http.js'
import { createDemoProcessor } from './clients.js'

const secret = 'a-processor-secret-of-the-test'
const update = { id: 'demo-1-1', chainId: '31337', txHash: `0x${'ab'.repeat(32)}`, state: 'pending' } as const

/** A processor whose updates are verified and then answered as given. */
async function processor(status: number, answer: unknown) {
  const serviceUrl = await serveHttp(async (request, response) => {
    const header = String(request.headers['x-service-signature'])
    await verifySignature({ body: await buffer(request), header, secrets: [secret] })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  return createDemoProcessor({ serviceUrl, secret, now: () => Date.now() })
}

describe('createDemoProcessor', () => {
  it('resolves null while the update waits', async () => {
    const { send } = await processor(202, { id: 'demo-1-1', outcome: 'waiting', version: null, reason: null })
    expect(await send(update)).toBeNull()
  })

  it.each([
    [422, { outcome: 'refused', reason: 'success cannot become pending' }, 'success cannot become pending'],
    [401, { error: 'Unauthorized' }, 'Unauthorized'],
    [500, {}, 'no reason given'],
  ])('rejects with status %i and the reason', async (status, answer, reason) => {
    const { send } = await processor(status, answer)
    await expect(send(update)).rejects.toMatchObject({
      code: 'ERR_DEMO',
      message: `The service answered ${status} to the processor's update pending: ${reason}.`,
    })
  })
})
