/** The measured server, as a process of its own: the product, started as `serve` starts it. @module */
import { startServer } from '@payment-integration/server'
import { readConfig } from '@payment-integration/server/service'
import { answerParent } from './child.js'

const server = await startServer(readConfig(process.env), { ownsProcess: true })
answerParent(server.url, () => server.stop())
