import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { always, type DnsServer, startDns } from '../../test/support/hostile-dns.js'
import { selfSigned } from '../../test/support/self-signed.js'
import { createUndiciSender } from './undici-sender.js'

const pair = selfSigned('hook.example')
const server = createServer(pair, (request, response) => {
  served.push(`${request.headers.host} ${(request.socket as unknown as { servername: string }).servername}`)
  if (request.url === '/continue') response.writeContinue()
  response.end()
})
const served: string[] = []
let port = 0
let dns: DnsServer
beforeAll(async () => {
  dns = await startDns(always('127.0.0.1'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await dns.stop()
})

async function send(name: string, ca?: string, path = '/') {
  const sender = createUndiciSender({ allowLoopbackHttp: true, servers: dns.servers, ports: [port], ca })
  try {
    return await sender.post({
      url: `https://${name}:${port}${path}`,
      headers: {},
      body: Buffer.from('x'),
      timeoutMs: 2_000,
    })
  } finally {
    await sender.close()
  }
}

it('delivers over TLS to a server with a trusted certificate, naming the host', async () => {
  expect(await send('hook.example', pair.cert)).toMatchObject({ kind: 'answer', status: 200 })
  expect(served).toEqual([`hook.example:${port} hook.example`])
})

it('keeps verifying when the environment disables verification', async () => {
  served.length = 0
  const warning = vi.spyOn(process, 'emitWarning').mockReturnValue()
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  try {
    expect(await send('hook.example')).toMatchObject({ kind: 'failure', reason: 'connection' })
  } finally {
    warning.mockRestore()
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  }
  expect(served).toEqual([])
})
