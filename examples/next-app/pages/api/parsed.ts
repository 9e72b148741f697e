import { createNextApi } from '@payment-integration/webhook/next'
import { shop } from '../../lib/shop'

// For check.mjs: with Next's parser on, the answer is 500 and the log names the remedy.
export default createNextApi({ receive: (delivery) => shop().receive(delivery) })
