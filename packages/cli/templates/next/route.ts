/** Receives payment notifications. */
import { openReceiver } from 'PAYMENTS_FOLDER/receiver.js'
import { paymentWebhook } from 'PAYMENTS_FOLDER/webhook.js'

/** Opened by the first delivery, because a build has no secret. */
let receiver: ReturnType<typeof openReceiver> | undefined

export const runtime = 'nodejs'
export const POST = paymentWebhook((delivery) => {
  receiver ??= openReceiver(process.env)
  return receiver.receive(delivery)
})
