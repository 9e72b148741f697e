/** The webhook of payment notifications. In your main file, before `app.listen`: `usePaymentWebhook(app, receive)`. */
import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createNestHandler } from '@payment-integration/webhook/nest'

/** Adds the webhook. It runs before Nest's body parser, because the signature covers the raw bytes. */
export function usePaymentWebhook(app, receive) {
  // Strangers can cause refusals: the line has only the code, and nothing that was sent.
  app.use('/WEBHOOK_PATH', createNestHandler({ receive, onRefusal: ({ code }) => console.warn(code) }))
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(receive) {
  class PaymentsModule {}
  Module({})(PaymentsModule)
  const app = await NestFactory.create(PaymentsModule, { logger: false })
  usePaymentWebhook(app, receive)
  await app.init()
  return app.getHttpAdapter().getInstance()
}
