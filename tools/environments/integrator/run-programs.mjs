/**
 * Node, Bun and Deno: `run-programs.mjs esm|cjs <input file>` prints the verdicts as one line of JSON. Requests go to
 * the input's `endpoint`, or without one to an endpoint that this runtime serves itself.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { buildEndpoint } from './programs/endpoint.mjs'
import { runPrograms } from './programs/index.mjs'

const [format, file] = process.argv.slice(2)
const { packages } = await (format === 'cjs' ? import('./packages.cjs') : import('./packages.mjs'))
const input = JSON.parse(readFileSync(file, 'utf8'))
const { url, close } = input.endpoint ? { url: input.endpoint, close() {} } : await serve(buildEndpoint(packages))
try {
  const verdicts = await runPrograms(packages, input, { send: (init) => fetch(url, init) })
  process.stdout.write(`${JSON.stringify(verdicts)}\n`)
} finally {
  await close()
}

/** The runtime's own server, with its adapter. */
async function serve(options) {
  const { createFetchHandler } = packages.fetchAdapter
  if (globalThis.Bun) {
    const server = globalThis.Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: createFetchHandler(options) })
    return { url: `http://127.0.0.1:${server.port}/webhook`, close: () => server.stop(true) }
  }
  if (globalThis.Deno) {
    const listen = { port: 0, hostname: '127.0.0.1', onListen() {} }
    const server = globalThis.Deno.serve(listen, createFetchHandler(options))
    return { url: `http://127.0.0.1:${server.addr.port}/webhook`, close: () => server.shutdown() }
  }
  const server = createServer(packages.nodeAdapter.createNodeHandler(options))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${server.address().port}/webhook`, close }
}
