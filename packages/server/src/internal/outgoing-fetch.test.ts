/** Answers that HTTP allows reach the clients of the identity and OpenID providers. Source: RFC 9110 15.2. */
import { randomBytes } from 'node:crypto'
import { silentLogger } from '@payment-integration/core'
import { createSumsubClient } from '@payment-integration/identity-sumsub/service'
import { createTwin } from '@payment-integration/testing/twin'
import { expect, test } from 'vitest'
import { eventually, startTcp } from '../../test/support/tcp-server.js'
import { readConfig } from '../config/read-config.js'
import { createSumsubIdentityProvider } from '../identity/sumsub-provider.js'
import { openConsole } from '../run/open-pages.js'

/** Answers each request after an unasked 100 Continue. */
async function startContinuing(bodyFor: (url: string) => object) {
  const server = await startTcp((socket) => {
    const body = JSON.stringify(bodyFor(server.url))
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${head}${body}`)
  })
  return { ...server, [Symbol.asyncDispose]: server.stop }
}

const settings = { appToken: 'a', secretKey: 'b', levelName: 'basic', timeoutMs: 600_000 }
const connect = (baseUrl: string) => createSumsubIdentityProvider(createSumsubClient, { ...settings, baseUrl })

test('an answer of 200,000 bytes of the identity provider after an unasked 100 is read', async () => {
  const note = 'a'.repeat(200_000)
  await using server = await startContinuing(() => ({ id: 'a1', externalUserId: 'user-1', note }))
  const provider = connect(server.url)
  expect(await provider.find('user-1')).toMatchObject({ kind: 'answer', value: { applicantId: 'a1' } })
  provider.close()
})

test('close leaves a look-up in flight unavailable, and the outcome of a redemption unknown', async () => {
  let requests = 0
  const server = await startTcp(() => requests++)
  const provider = connect(server.url)
  const ids = { externalUserId: 'user-1', integrationAddress: `0x${'a1'.repeat(20)}` }
  const calls = [provider.find('user-1'), provider.redeem({ ...ids, shareToken: 'token', sendBy: Date.now() + 60_000 })]
  await eventually(() => requests === 2)
  provider.close()
  expect(await Promise.all(calls)).toMatchObject([{ kind: 'unavailable' }, { kind: 'unknown' }])
  await server.stop()
})

test('an answer of the OpenID provider after an unasked 100 is read', async () => {
  await using server = await startContinuing((issuer) => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }))
  const twin = await createTwin()
  const config = readConfig({
    PI_MASTER_KEY: randomBytes(32).toString('base64url'),
    PI_CONSOLE_URL: 'https://pay.example',
    PI_OIDC_ISSUER: server.url,
    PI_OIDC_CLIENT_ID: 'pay',
    PI_OIDC_CLIENT_SECRET: 'secret',
  })
  const parts = { service: twin.service, logger: silentLogger, store: {} as never, trigger: null, tools: undefined }
  const pages = await openConsole(config, parts)
  const answer = await pages.fetch(new Request('https://pay.example/console/oidc/start'), {} as never)
  expect(answer.headers.get('location')).toMatch(`${server.url}/authorize?`)
  pages.close()
  await twin.close()
})
