/**
 * Chromium: the runner calls `runPrograms` in the page. A page serves nothing, so its handler gets the requests
 * directly.
 * @module
 */
import { packages } from './packages.mjs'
import { buildEndpoint } from './programs/endpoint.mjs'
import { runPrograms } from './programs/index.mjs'

const handler = packages.fetchAdapter.createFetchHandler(buildEndpoint(packages))
const send = (init) => handler(new Request('https://shop.example/webhook', init))

globalThis.runPrograms = (input) => runPrograms(packages, input, { send })
