import { readFileSync, writeFileSync } from 'node:fs'
import type { MoveReader } from '@payment-integration/core/ports'
import { describe, expect, test } from 'vitest'
import { txHashOf } from '../../../store-sql/test/support/scripted-chain.js'
import { readMoveFile } from '../../src/move-file/read-move-file.js'
import { createMoveFile } from '../../src/move-file/write-move-file.js'
import { commandsOf } from '../run-commands.js'
import { shop, twoCells } from './two-cells.js'

describe('an import is refused', () => {
  const importing = async (
    made: Awaited<ReturnType<typeof twoCells>>,
    path: string,
    change: Partial<MoveReader> = {},
  ) => made.target.service.moves.import({ ...(await readMoveFile(path)), ...change })
  const rejection = (code: string, text: string) =>
    expect.objectContaining({ code, message: expect.stringContaining(text) })

  test('while a payment of the file is not indexed', async () => {
    const made = await twoCells('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    const missing: MoveReader['rows'] = async function* () {
      for await (const rows of (await readMoveFile(path)).rows())
        yield rows.map((row) => ('payment' in row ? { payment: { ...row.payment, txHash: txHashOf('unknown') } } : row))
    }
    await expect(importing(made, path, { rows: missing })).rejects.toThrow(
      rejection('ERR_MOVE_PAYMENT_MISSING', txHashOf('unknown')),
    )
    await importing(made, path)
  })

  test('where the integration is enabled', async () => {
    const made = await twoCells('SQLite', 'SQLite')
    const { path } = await made.export()
    await importing(made, path)
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_INTEGRATION_EXISTS', shop))
  })

  test('with another master key', async () => {
    const made = await twoCells('SQLite', 'SQLite', 'fedcba9876543210'.repeat(4))
    const { path } = await made.export()
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_MOVE_KEY_MISSING', 'webhook secret'))
    expect(await made.target.service.integrations.list()).toEqual([])
  })

  test('with changed or missing bytes', async () => {
    const made = await twoCells('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    const bytes = readFileSync(path)
    const damaged = Buffer.from(bytes)
    damaged.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
    for (const content of [damaged, bytes.subarray(0, -5)]) {
      writeFileSync(`${path}.copy`, content)
      await expect(importing(made, `${path}.copy`)).rejects.toThrow(rejection('ERR_ARCHIVE', path))
    }
  })

  test('after the other cell changed a payment without the file', async () => {
    const made = await twoCells('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    await made.target.service.applyUpdate(made.update('u1', 'a', { state: 'success' }))
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_MOVE_UPDATE_MISSING', txHashOf('a')))
    await made.source.service.applyUpdate(made.update('u1', 'a', { state: 'success' }))
    await importing(made, (await made.export()).path)
    await made.target.deliver()
    expect(made.keys(['a'])).toEqual(['a@1', 'a@2'])
  })

  test('with a file that is older than what was sent, and an integration moves back with a newer one', async () => {
    const made = await twoCells('SQLite', 'SQLite')
    await made.pay('a')
    const { path } = await made.export()
    await importing(made, path)
    await made.target.deliver()
    await made.target.service.integrations.setEnabled(shop, false)
    await expect(importing(made, path)).rejects.toThrow(rejection('ERR_MOVE_FILE_STALE', txHashOf('a')))
    const back = `${path}.back`
    await made.target.service.moves.export(shop, (record) => createMoveFile(back, record))
    await made.source.service.moves.import(await readMoveFile(back))
    expect(await made.source.deliver()).toBe(0)
    expect(made.keys(['a'])).toEqual(['a@1'])
  })
})

test('the commands export and import, and print the digest', async () => {
  const from = commandsOf('integrations')
  const to = commandsOf('integrations')
  await to.make()
  await from.run('create', shop)
  const file = `${from.path}.zst`
  const exported = await from.run('export', shop, '--to', file)
  expect(exported).toMatchObject({ exitCode: 0, err: '' })
  const [, digest = ''] = /sha256 ([0-9a-f]{64})/.exec(exported.out) ?? []
  const imported = await to.run('import', file)
  expect(imported).toMatchObject({ exitCode: 0, err: '', out: expect.stringContaining(digest) })
  expect((await to.run('list')).out).toContain(`${shop}  enabled`)
  expect((await from.run('list')).out).toContain(`${shop}  disabled`)
  expect(await from.run('export', shop, '--to', file)).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('never overwritten'),
  })
})
