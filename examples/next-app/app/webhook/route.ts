import { createNextRoute } from '@payment-integration/webhook/next'
import { shop } from '../../lib/shop'

export const runtime = 'nodejs'
export const POST = createNextRoute({ receive: (delivery) => shop().receive(delivery) })
