/** Answers every request with the page, outside the client's process. @module */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pageText } from './page.js'

const body = Buffer.from(pageText())
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
// Exits with the bench.
process.on('disconnect', () => process.exit())
