import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chosenService, legacyKey, txHash } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'

const service = chosenService()
let server: Awaited<ReturnType<typeof listenApp>>
beforeAll(async () => {
  server = await listenApp({ service })
})
afterAll(() => server.stop())

const lookup = `/api/v1/tx/1/${txHash}`

describe('a request to the legacy API with a valid key', () => {
  it('is 401 for a repeated Authorization, also when the host passes only the first one to the app', async () => {
    const rawHeaders = ['Authorization', legacyKey, 'authorization', 'x']
    const fetched = (headers: readonly string[]) =>
      server.app.fetch(new Request(`${server.url}${lookup}`, { headers: { authorization: legacyKey } }), {
        incoming: { rawHeaders: headers },
      })
    expect((await fetched(rawHeaders.slice(0, 2))).status).toBe(200)
    expect((await fetched(rawHeaders)).status).toBe(401)
    expect(service.calls.splice(0)).toHaveLength(1)
  })
})
