/** A process that answers every request with the page, so that its work is not counted as the client's. @module */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pageText } from './page.js'

const body = Buffer.from(pageText())
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
// When the bench goes, so does this.
process.on('disconnect', () => process.exit())
