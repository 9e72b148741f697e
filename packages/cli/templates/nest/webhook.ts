/** The webhook of payment notifications. In your main file, before `app.listen`: `usePaymentWebhook(app, receive)`. */
import 'reflect-metadata'
import type { RequestListener } from 'node:http'
import { type INestApplication, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { IncomingDelivery } from '@payment-integration/webhook'
import { createNestHandler } from '@payment-integration/webhook/nest'

/** Adds the webhook. It runs before Nest's body parser, because the signature covers the raw bytes. */
export function usePaymentWebhook(
  app: INestApplication,
  receive: (delivery: IncomingDelivery) => Promise<unknown>,
): void {
  // Anyone can cause rejections, so the log line has only the code, and nothing that was sent.
  app.use('/WEBHOOK_PATH', createNestHandler({ receive, onRejection: ({ code }) => console.warn(code) }))
}

/** The webhook alone, for `npm run payments` and the test. */
export async function createListener(
  receive: (delivery: IncomingDelivery) => Promise<unknown>,
): Promise<RequestListener> {
  class PaymentsModule {}
  Module({})(PaymentsModule)
  const app = await NestFactory.create(PaymentsModule, { logger: false })
  usePaymentWebhook(app, receive)
  await app.init()
  return app.getHttpAdapter().getInstance()
}
