/** The integration read API. Source: docs/interface.md 4.1, 5, 7. @module */
import { paths } from '../paths.js'
import { page, payment } from './examples.js'
import { operation } from './operation.js'
import { cursor, limit, txHash, wallet } from './parameters.js'
import { json } from './references.js'
import { answer } from './responses.js'
import { asIntegration } from './security.js'
import type { Operation, PathItem } from './types.js'

const tags = ['Payments']
const paging =
  'Paging is stable while new payments arrive. To reconcile, page newest first until you reach a payment that you have already stored. Chain id and transaction hash identify a payment.'

type Parts = Pick<Operation, 'operationId' | 'summary' | 'description' | 'parameters'>

function list(parts: Parts): PathItem {
  const body = json('Page', { page: { summary: 'The last page', value: page } })
  const responses = {
    200: answer('A page of payments.', body),
    400: 'InvalidList',
    401: 'IntegrationUnauthorized',
  } as const
  return { get: operation({ ...parts, tags, security: asIntegration, responses }) }
}

function single(parts: Parts): PathItem {
  const body = json('Payment', { payment: { summary: 'A payment', value: payment } })
  const responses = {
    200: answer('The payment.', body),
    400: 'InvalidKey',
    401: 'IntegrationUnauthorized',
    404: 'PaymentNotFound',
    409: 'PaymentAmbiguous',
  } as const
  return { get: operation({ ...parts, tags, security: asIntegration, responses }) }
}

/** The four endpoints, by path. */
export const paymentOperations = {
  [paths.payments]: list({
    operationId: 'listPayments',
    summary: 'List payments',
    description: `All payments that name the integration of the caller, newest first. ${paging}`,
    parameters: [limit, cursor],
  }),
  [paths.payment]: single({
    operationId: 'getPayment',
    summary: 'Get a payment',
    description: 'One payment of the integration, by its destination transaction hash.',
    parameters: [txHash],
  }),
  [paths.walletPayments]: list({
    operationId: 'listWalletPayments',
    summary: 'List payments of a wallet',
    description: `The payments of the integration that one wallet sent or received, newest first. ${paging}`,
    parameters: [wallet, limit, cursor],
  }),
  [paths.walletPayment]: single({
    operationId: 'getWalletPayment',
    summary: 'Get a payment of a wallet',
    description:
      'One payment of the integration that the wallet sent or received, by its destination transaction hash.',
    parameters: [wallet, txHash],
  }),
}
