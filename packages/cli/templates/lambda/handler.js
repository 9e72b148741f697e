/** The entry point for AWS Lambda. Set the time-out of the function to 5 seconds or more. */
import { openReceiver } from './receiver.js'
import { paymentWebhook } from './webhook.js'

/** Opened by the first delivery; it lives as long as the instance of the function. */
let receiver

export const handler = paymentWebhook((delivery) => {
  receiver ??= openReceiver(process.env)
  return receiver.receive(delivery)
})
