import { createNextApi } from '@payment-integration/webhook/next'
import { shop } from '../../lib/shop'

// The signature covers the raw bytes: Next must not parse them.
export const config = { api: { bodyParser: false } }
export default createNextApi({ receive: (delivery) => shop().receive(delivery) })
