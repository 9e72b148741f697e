import { expect, test } from 'vitest'
import { onPostgres } from '../../test/support/on-postgres.js'
import { formatArray, formatColumns } from './bulk-rows.js'

const texts = [
  ...['', 'null', 'NULL', null, '0xab', '0', '{}', ',', '"', '\\', '\\"', "'", ' ', '\n', 'a\u{1f9c0}', '"x"', '"x"'],
]

onPostgres('arrays', ({ admin }) => {
  test('0x text becomes bytes, and other text is rejected', async () => {
    const hex = ['0x', '0x00', null, '0xffab', `0x${'5c22'.repeat(16)}`]
    const columns = [{ name: 'a', type: 'hex' }] as const
    const given = hex.map((value) => [value])
    const { source, values, parameters } = formatColumns({ columns }, given)
    const { rows } = await admin().query(`select ${values[0]} as found from ${source}`, parameters)
    expect(rows.map(({ found }) => found && `0x${found.toString('hex')}`)).toEqual(hex)
    for (const wrong of ['0xa', '0xAB', 'ab', '0x"}', '0xab '])
      expect(() => formatArray([wrong], 'hex')).toThrow(TypeError)
  })

  test('PostgreSQL reads the same text and numbers', async () => {
    const numbers = [0, -1, Number.MAX_SAFE_INTEGER, null]
    const { rows } = await admin().query('select $1::text[] as texts, $2::bigint[] as numbers, $3::text[] as empty', [
      formatArray(texts),
      formatArray(numbers),
      formatArray([]),
    ])
    const asText = numbers.map((number) => (number === null ? null : String(number)))
    expect(rows).toEqual([{ texts, numbers: asText, empty: [] }])
  })

  test('a source has every row in order with its bytes, also if a column has one value in all rows', async () => {
    const columns = [
      { name: 'n', type: 'integer' },
      { name: 'same', type: 'text' },
      { name: 'none', type: 'text' },
      { name: 'body', type: 'bytes' },
      { name: 'text', type: 'text' },
    ] as const
    const given = texts.map((text, n) => {
      const body = Uint8Array.from({ length: n === 2 ? 0 : n * 20 }, (_, byte) => byte)
      return [n % 3, '"same"', null, body, text] as const
    })
    const { values, source, parameters } = formatColumns({ columns }, given)
    const query = `select ${values.join(', ')} from ${source}`
    const { rows } = await admin().query({ text: query, values: parameters, rowMode: 'array' })
    const asRead = given.map(([n, same, none, body, text]) => [String(n), same, none, Buffer.from(body), text])
    expect(rows).toEqual(asRead)
  })
})
