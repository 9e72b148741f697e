/** Code to copy, with the integration's real address. Its secrets come from the environment. @module */

/** A request that lists payments. */
export const curlOf = (origin: string, address: string) =>
  `curl -s -u "${address}:$API_SECRET" ${origin}/api/v1/integration/payments`

/** A script that reads all payments. */
export const clientOf = (origin: string, address: string) => `import { createClient } from '@payment-integration/client'

const client = createClient({
  baseUrl: '${origin}',
  integrationAddress: '${address}',
  apiSecret: process.env.API_SECRET,
})
for await (const payment of client.payments.iterate())
  console.log(payment.txHash, payment.version, payment.state)
`

/** A receiver that verifies deliveries. */
export const receiverCode = `import { createServer } from 'node:http'
import { createVerifier, isWebhookRefusal, readBody } from '@payment-integration/webhook'

const { verify } = createVerifier({ secrets: process.env.WEBHOOK_SIGNING_SECRET })

createServer(async (request, response) => {
  try {
    const { snapshot } = await verify({ body: await readBody(request), headers: request.headers })
    console.log(snapshot.txHash, snapshot.version, snapshot.state) // store it here, once for each version
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(isWebhookRefusal(error) ? error.status : 500).end()
  }
}).listen(process.env.PORT)
`
