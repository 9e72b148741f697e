/** Serves only the webhook, on this machine, with the variables of `.env.local`: `npm run payments`. */
import { createServer } from 'node:http'
import { openReceiver } from './receiver.js'
import { createListener } from './webhook.js'

async function main() {
  const { receive, close } = openReceiver(process.env)
  const server = createServer(await createListener(receive))
  server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : address
    console.log(`Deliveries are accepted at http://127.0.0.1:${port}/WEBHOOK_PATH`)
  })
  function stop() {
    server.close(() => void close())
    server.closeIdleConnections()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
