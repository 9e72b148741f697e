import { expect, it } from 'vitest'
import { serveHttp } from '../../test/serve-http.js'
import { findFreePort } from './machine.js'

it('passes over a port in use', async () => {
  const port = Number(new URL(await serveHttp(() => undefined)).port)
  expect(await findFreePort(port)).toBeGreaterThan(port)
})
