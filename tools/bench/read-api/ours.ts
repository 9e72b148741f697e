/** The measured server as a separate process: the product, started like `serve`. @module */
import { startServer } from '@payment-integration/server'
import { readConfig } from '@payment-integration/server/service'
import { answerParent } from './child.js'

const server = await startServer(readConfig(process.env), { ownsProcess: true })
answerParent(server.url, () => server.stop())
