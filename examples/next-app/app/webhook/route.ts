import { nextRoute } from '@payment-integration/webhook/next'
import { shop } from '../../lib/shop'

export const runtime = 'nodejs'
export const POST = nextRoute({ receive: (delivery) => shop().receive(delivery) })
