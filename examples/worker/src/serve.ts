import { runWorker } from './workerd.js'

const { WEBHOOK_SIGNING_SECRET: secret } = process.env
if (!secret) {
  console.error('Set WEBHOOK_SIGNING_SECRET, the webhook signing secret of your integration.')
  process.exit(2)
}

const worker = await runWorker({ secret })
console.log(`The Worker listens on ${worker.url}/webhook`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void worker.remove())
