import { createHash } from 'node:crypto'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase, postgresMissing } from '../../test/postgres.js'
import { fromEscaped } from './bulk-rows.js'

test.skipIf(postgresMissing)(
  `what PostgreSQL escapes is read as the bytes it was given${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  async () => {
    const server = await createTestDatabase()
    const client = new pg.Client({ connectionString: server.connectionString })
    try {
      await client.connect()
      const pieces = ['\\', '\\\\', '\\134', '\\x41', '0', '7', 'a', '\0', '\x7f', '\x80', 'ÿ']
      const given = [
        Buffer.alloc(0),
        ...pieces.flatMap((one) => pieces.map((other) => Buffer.from(one + other, 'latin1'))),
        ...Array.from({ length: 200 }, (_, outputLength) =>
          createHash('shake256', { outputLength }).update('bytes').digest(),
        ),
      ]
      const { rows } = await client.query<{ text: string }>({
        text: `select encode(decode(hex, 'hex'), 'escape') as text from unnest($1::text[]) with ordinality as t (hex, n) order by n`,
        values: [given.map((one) => one.toString('hex'))],
      })
      expect(rows.map(({ text }) => Buffer.from(fromEscaped(text)).toString('hex'))).toEqual(
        given.map((one) => one.toString('hex')),
      )
    } finally {
      await client.end()
      await server.remove()
    }
  },
)
