/** Stores a payment of the read API, unless it is of another integration. @module */
import type { Payment } from '@payment-integration/client'
import { OtherIntegrationError } from './errors.js'
import type { Written } from './internal/payments-table.js'
import type { Parts } from './options.js'

/** @throws {@link OtherIntegrationError} `ERR_MIRROR_OTHER_INTEGRATION` when the client is for another integration. */
export async function storePayment({ payments, integrationAddress, now }: Parts, payment: Payment): Promise<Written> {
  if (payment.integrationAddress !== integrationAddress)
    throw new OtherIntegrationError(payment.integrationAddress, integrationAddress)
  return payments.writePayment(payment, new Date(now()).toISOString())
}
