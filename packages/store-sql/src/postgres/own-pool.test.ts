import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { selfSigned } from '../../../server/test/support/self-signed.js'
import { giveToServer, startPostgres, type TestPostgres } from '../../test/postgres.js'
import { describeOnPostgres } from '../../test/support/on-postgres.js'
import { createPostgresStore, hasTlsParameter } from './create-postgres-store.js'

test.each([
  ['sslmode=require', true],
  ['host=a&sslrootcert=b', true],
  ['host=ssl', false],
])('an address with ?%s has a parameter for TLS: %s', (query, expected) => {
  expect(hasTlsParameter(`postgres://db.example/payments?${query}`)).toBe(expected)
})

test('the listener for due deliveries logs in with the password of a pool of the caller', async () => {
  const { server, port } = await listenAnywhere()
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'app', password: 'canary' })
  const store = createPostgresStore({ pool })
  store.deliveries.whenDue(() => undefined)
  const [socket] = await once(server, 'connection')
  await once(socket, 'data')
  socket.write('R\0\0\0\b\0\0\0\u0003')
  expect(String(await Promise.race([once(socket, 'data'), once(socket, 'close')]))).toContain('canary')
  await Promise.all([store.close(), pool.end()])
  server.close()
})

describeOnPostgres('TLS to PostgreSQL', () => {
  const { key, cert } = selfSigned('db.example')
  let server: TestPostgres
  let folder = ''
  let port = 0
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pi-tls-'))
    const files = { key: join(folder, 'server.key'), cert: join(folder, 'server.crt') }
    writeFileSync(files.key, key, { mode: 0o600 })
    writeFileSync(files.cert, cert)
    giveToServer(folder, files.key)
    port = await freePort()
    const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'ssl=on']
    settings.push(`ssl_cert_file=${files.cert}`, `ssl_key_file=${files.key}`)
    server = await startPostgres({ fsync: false, settings })
  })
  afterAll(async () => {
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([
    ['that signed it, at a name of its certificate, is reached', '127.0.0.1', cert, null],
    ['that signed it, at another name, is not', 'localhost', cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that did not sign it, is not', '127.0.0.1', selfSigned('db.example').cert, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('a server checked with the authority %s', async (_, host, ca, code) => {
    const store = createPostgresStore({ connectionString: `postgres://postgres@${host}:${port}/postgres`, ca })
    if (code !== null)
      await expect(store.ping()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: { code } })
    else {
      await store.ping()
      const admin = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` })
      await admin.connect()
      const { rows } = await admin.query(`select ssl from pg_stat_ssl join pg_stat_activity using (pid)
        where application_name = 'payment-integration'`)
      expect(rows).toEqual([{ ssl: true }])
      await admin.end()
    }
    await store.close()
  })
})

async function listenAnywhere() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

async function freePort(): Promise<number> {
  const { server, port } = await listenAnywhere()
  server.close()
  await once(server, 'close')
  return port
}
