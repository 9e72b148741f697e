import { runWorker } from './workerd.js'

const { WEBHOOK_SIGNING_SECRET: secret, SHOP_TOKEN: shopToken } = process.env
if (!secret || !shopToken) {
  console.error(
    'Set WEBHOOK_SIGNING_SECRET, of your integration, and SHOP_TOKEN, a random text that your back end sends as well.',
  )
  process.exit(2)
}

const worker = await runWorker({ secret, shopToken })
console.log(`The Worker listens on ${worker.url}/webhook`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void worker.remove())
