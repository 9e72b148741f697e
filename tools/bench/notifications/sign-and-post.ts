/** Signs a body and posts it: the loop body of the floor, and the handler of a queue. @module */
import { createHmac } from 'node:crypto'
import { Agent } from 'undici'
import { inFlight, integrations, type Job } from './jobs.js'

/** Builds the function that signs and posts; it rejects unless the answer is 204. */
export function createPoster(
  receiverUrl: string,
  connections = inFlight,
): { post(job: Job): Promise<void>; close(): Promise<void> } {
  const agent = new Agent({ connections, keepAliveTimeout: 4_000 })
  const secrets = new Map(integrations.map((address) => [address, `pi_whsec_${address}`]))
  return {
    async post({ integrationAddress, body }) {
      const timestamp = Math.floor(Date.now() / 1_000)
      const bytes = Buffer.from(body)
      const code = createHmac('sha256', secrets.get(integrationAddress) ?? '')
        .update(`${timestamp}.`)
        .update(bytes)
        .digest('hex')
      const headers = {
        'Content-Type': 'application/json; charset=utf-8',
        'User-Agent': 'payment-integration',
        'X-Service-Integration': integrationAddress,
        'X-Service-Signature': `t=${timestamp},v1=${code}`,
      }
      const path = `/hooks/${integrationAddress}`
      const answer = await agent.request({ origin: receiverUrl, path, method: 'POST', headers, body: bytes })
      await answer.body.dump()
      if (answer.statusCode !== 204) throw new Error(`The receiver answered ${answer.statusCode}.`)
    },
    close: () => agent.close(),
  }
}
