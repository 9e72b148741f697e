/** workerd: serves deliveries at /webhook; other paths take the input and answer the verdicts. @module */
import { packages } from './packages.mjs'
import { buildEndpoint } from './programs/endpoint.mjs'
import { runPrograms } from './programs/index.mjs'

const webhook = packages.workerAdapter.createWorkerHandler(buildEndpoint(packages))

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === '/webhook') return webhook(request, env, context)
    return Response.json(await runPrograms(packages, await request.json(), {}))
  },
}
