import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { parseMasterKey } from '@payment-integration/core'
import { describe, expect, test } from 'vitest'
import { hex, makeTxHash } from '../../../store-sql/test/support/scripted-chain.js'
import { createGzipFile, openGzipFile } from '../../src/archive.js'
import { testMasterKey } from '../master-key.js'
import { getCommands } from '../run-commands.js'
import { temporaryFolder } from '../temporary-folder.js'
import { shop, twoCells } from './two-cells.js'

type Cells = Awaited<ReturnType<typeof twoCells>>

const importing = (cells: Cells, path: string) => cells.target.service.moves.import(openGzipFile(path))
const rejection = (code: string, text: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(text) })

describe('an import is rejected', () => {
  test('while a payment of the file is not indexed', async () => {
    const cells = await twoCells('SQLite', 'SQLite')
    await cells.pay('a')
    const { path } = await cells.export()
    const unindexed = signed(path, (text) => text.replaceAll(makeTxHash('a'), makeTxHash('none')))
    await expect(importing(cells, unindexed)).rejects.toThrow(rejection('ERR_MOVE_PAYMENT_MISSING', makeTxHash('none')))
    expect(await cells.target.service.integrations.list()).toEqual([])
    await importing(cells, path)
  })

  test('where the integration is enabled', async () => {
    const cells = await twoCells('SQLite', 'SQLite')
    const { path } = await cells.export()
    await importing(cells, path)
    await expect(importing(cells, path)).rejects.toThrow(rejection('ERR_INTEGRATION_EXISTS', shop))
  })

  test('after the other cell changed a payment without the file', async () => {
    const cells = await twoCells('SQLite', 'SQLite')
    await cells.pay('a')
    const { path } = await cells.export()
    await cells.target.service.applyUpdate(cells.update('u1', 'a', { state: 'success' }))
    await expect(importing(cells, path)).rejects.toThrow(rejection('ERR_MOVE_UPDATE_MISSING', makeTxHash('a')))
    expect(await cells.target.service.integrations.list()).toEqual([])
    await cells.source.service.applyUpdate(cells.update('u1', 'a', { state: 'success' }))
    await importing(cells, (await cells.export()).path)
    await cells.target.deliver()
    expect(cells.keys(['a'])).toEqual(['a@1', 'a@2'])
  })

  test('with a file that is older than what was sent, and an integration moves back with a newer one', async () => {
    const cells = await twoCells('SQLite', 'SQLite')
    await cells.pay('a')
    const { path } = await cells.export()
    await importing(cells, path)
    await cells.target.deliver()
    await cells.target.service.integrations.setEnabled(shop, false)
    await expect(importing(cells, path)).rejects.toThrow(rejection('ERR_MOVE_FILE_STALE', makeTxHash('a')))
    const back = `${path}.back`
    await cells.target.service.moves.export(shop, () => createGzipFile(back))
    await cells.source.service.moves.import(openGzipFile(back))
    expect(await cells.source.deliver()).toBe(0)
    expect(cells.keys(['a'])).toEqual(['a@1'])
  })
})

const other = hex('other', 20)
const ofOther = (text: string) => text.replaceAll(makeTxHash('a'), makeTxHash('b'))
type Change = (text: string) => string
const ofPayment = (change: Change): Change => {
  return (text) => text.replace(/^\{"payment".*$/m, change)
}
const ofUpdate = (change: Change): Change => {
  return (text) => text.replace(/^\{"update".*$/m, (row) => change(row.replace('"u1"', '"taken"')))
}
const replacing = (from: string | RegExp, to: string): Change => {
  return (text) => text.replace(from, to)
}
const notItsRow = rejection('ERR_MOVE_ROW_INVALID', 'is not of integration')
const otherUpdate = rejection('ERR_MOVE_ROW_INVALID', 'Update waits')
const notItsSnapshot = rejection('ERR_MOVE_ROW_INVALID', 'is no snapshot of this payment')
const badName = rejection('ERR_NAME_INVALID', 'control characters')
const noKey = rejection('ERR_MOVE_KEY_MISSING', 'The webhook secret of')
const otherShape = rejection('ERR_ARCHIVE', 'has another shape')
const asOther = `"id":"waits","integrationAddress":"${other}",`
const badUrl = rejection('ERR_URL_INVALID', 'must begin with https://')
const toFile = '"notificationUrl":"file:///etc/passwd"'
const toRefund = '"state":"refund_success","recipient"'

/** Changes by a holder of the master key, and their errors. */
const forgeries: readonly (readonly [name: string, change: Change, error: Error])[] = [
  ['a delivery of a payment of another integration', ofPayment(ofOther), notItsRow],
  ['a payment state of another integration', ofPayment((row) => ofOther(withState(row, 'refund_success'))), notItsRow],
  ['an update of a payment of another integration', ofUpdate(ofOther), notItsRow],
  ['a waiting update that names another integration', replacing('"id":"waits",', asOther), otherUpdate],
  ['other bytes to sign', replacing('\\"state\\":\\"success\\"', '\\"state\\":\\"paid\\"'), notItsSnapshot],
  ['another state than its snapshot has', replacing('"state":"success","recipient"', toRefund), notItsSnapshot],
  ['a URL that is none of a receiver', replacing(/"notificationUrl":"[^"]*"/, toFile), badUrl],
  ['a name that acts on a terminal', replacing('"name":""', '"name":"\\u001b[2J"'), badName],
  ['a signing secret that no key opens', replacing(/("signingSecret":\{.*?"sealed":")[^"]{4}/, '$1AAAA'), noKey],
  ['a row of another shape', replacing('"blockNumber":', '"blockNumber":"1","height":'), otherShape],
]

function withState(line: string, state: string): string {
  const { payment } = JSON.parse(line)
  payment.status.state = state
  const newest = payment.versions.at(-1)
  newest.body = JSON.stringify({ ...JSON.parse(newest.body), state })
  return JSON.stringify({ payment })
}

describe('a file that was changed on its way', () => {
  /** Two integrations with a payment each in the target; the file has an update and a waiting update. */
  async function exported() {
    const cells = await twoCells('SQLite', 'SQLite')
    await cells.target.service.integrations.create({ address: other, notificationUrl: 'http://127.0.0.1:9/other' })
    await cells.pay('a')
    await cells.payTo(other, 'b')
    await cells.source.service.applyUpdate(cells.update('u1', 'a', { state: 'success' }))
    await cells.source.service.applyUpdate(cells.update('waits', 'unknown', { state: 'success' }))
    await cells.target.service.applyUpdate(cells.update('b1', 'b', { state: 'pending' }))
    return { cells, path: (await cells.export()).path }
  }
  const getState = async ({ target }: Cells) => ({
    integrations: await target.store.integrations.list(),
    payments: await target.store.payments.list({ integrationAddress: other, limit: 9 }),
    deliveries: await target.store.deliveries.list({ limit: 9 }),
    audit: await target.store.audit.list({ limit: 9 }),
    updates: await target.store.transaction((tx) => tx.findUpdates(['u1', 'taken', 'waits'])),
  })

  test('to have the hash of another API secret changes nothing', async () => {
    const { cells, path } = await exported()
    const before = await getState(cells)
    const foreign = unsigned(path, (text) => text.replace(/("apiSecret":\{.*?"hash":")[^"]*/, `$1${'ab'.repeat(32)}`))
    await expect(importing(cells, foreign)).rejects.toThrow(rejection('ERR_ARCHIVE', 'its HMAC is wrong or missing'))
    expect(await getState(cells)).toEqual(before)
    await importing(cells, path)
  })

  test.each(forgeries)('to have %s is rejected, though it is signed', async (_name, change, error) => {
    const { cells, path } = await exported()
    const before = await getState(cells)
    await expect(importing(cells, signed(path, change))).rejects.toThrow(error)
    expect(await getState(cells)).toEqual(before)
  })

  test('an update that names no integration is left out where another one has its payment', async () => {
    const { cells, path } = await exported()
    const before = await getState(cells)
    const late = signed(path, (text) => text.replace(makeTxHash('unknown'), makeTxHash('b')))
    await importing(cells, late)
    const after = await getState(cells)
    expect(after.payments).toEqual(before.payments)
    expect(after.updates.map(({ id }) => id)).toEqual(['u1'])
  })

  test('to be 130 million rows long stops at an interruption', async () => {
    const { cells, path } = await exported()
    const member = gzipSync(Buffer.alloc(3_900_000, '{}\n'))
    writeFileSync(`${path}.long`, Buffer.concat([readFileSync(path), ...Array.from({ length: 100 }, () => member)]))
    const stop = new AbortController()
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
      if (turns < 5) return
      clearInterval(timer)
      stop.abort(new Error('interrupted'))
    }, 1)
    const running = cells.target.service.moves.import(openGzipFile(`${path}.long`), { signal: stop.signal })
    await expect(running).rejects.toThrow('interrupted')
  })
})

/** Writes a file with changed content beside a file. */
function unsigned(path: string, change: (text: string) => string): string {
  const before = gunzipSync(readFileSync(path)).toString()
  const after = change(before)
  expect(after).not.toBe(before)
  writeFileSync(`${path}.changed`, gzipSync(after))
  return `${path}.changed`
}

/** The same, signed as by a service. */
function signed(path: string, change: (text: string) => string): string {
  return unsigned(path, (text) => {
    const lines = change(text).replace(/[^\n]*\n$/, '')
    const key = parseMasterKey(testMasterKey).current.derive('move-file')
    return `${lines}${JSON.stringify({ hmac: createHmac('sha256', key).update(lines).digest('hex') })}\n`
  })
}

test('an export is rejected when its integration is enabled while the file is written', async () => {
  const { service } = (await twoCells('SQLite', 'SQLite')).source
  const path = join(temporaryFolder(), 'move.gz')
  const writing = service.moves.export(shop, async () => {
    await service.integrations.setEnabled(shop, true)
    return createGzipFile(path)
  })
  const error = { code: 'ERR_INTEGRATION_CHANGED', message: expect.not.stringContaining('rotated') }
  await expect(writing).rejects.toMatchObject(error)
  expect(existsSync(path)).toBe(false)
})

test('the commands export and import, and print the HMAC', async () => {
  const from = getCommands('integrations')
  const to = getCommands('integrations')
  await to.make()
  await from.run('create', shop)
  const file = `${from.path}.gz`
  const exported = await from.run('export', shop, '--to', file)
  expect(exported).toMatchObject({ exitCode: 0, err: '' })
  const [, hmac = ''] = /hmac ([0-9a-f]{64})/.exec(exported.out) ?? []
  const imported = await to.run('import', file)
  expect(imported).toMatchObject({ exitCode: 0, err: '', out: expect.stringContaining(hmac) })
  expect((await to.run('list')).out).toContain(`${shop}  enabled`)
  expect((await from.run('list')).out).toContain(`${shop}  disabled`)
  const again = await from.run('export', shop, '--to', file)
  expect(again).toMatchObject({ exitCode: 1, err: expect.stringContaining('never overwritten') })
})
