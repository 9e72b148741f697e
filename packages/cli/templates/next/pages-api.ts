/** Receives payment notifications. */
import { openReceiver } from 'PAYMENTS_FOLDER/receiver.js'
import { paymentWebhook } from 'PAYMENTS_FOLDER/webhook.js'

/** Opened by the first delivery, because a build has no secret. */
let receiver: ReturnType<typeof openReceiver> | undefined

/** The signature covers the raw bytes, so Next must not parse them. Next reads this line without running it. */
export const config = { api: { bodyParser: false } }
const handler = paymentWebhook((delivery) => {
  receiver ??= openReceiver(process.env)
  return receiver.receive(delivery)
})
export default handler
