/** The shop's items. Prices come from here, never from a request. @module */
import { parseAmount } from '@payment-integration/client/amounts'

export const catalog = new Map([
  ['beans', { price: parseAmount('12.50'), currency: 'EUR' }],
  ['grinder', { price: parseAmount('99.00'), currency: 'EUR' }],
])
