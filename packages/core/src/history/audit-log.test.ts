import { expect, test } from 'vitest'
import { manualClock } from '../../test/support/manual-clock.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { openStore } from '../../test/support/store.js'
import { until } from '../../test/support/until.js'
import type { ServiceEvent } from '../events.js'
import { type MasterKey, parseMasterKey } from '../secrets/keys.js'
import { announceIntervalMs, createAudited, createAuditQueries, createHeadAnnouncer, redactUrl } from './audit-log.js'
import type { AuditHead, AuditRecord, AuditStore } from './audit-store.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const keys = parseMasterKey(oldKey)

function setup() {
  const store = openStore()
  const clock = manualClock()
  const audited = (given: MasterKey = keys) =>
    createAudited({ transaction: store.transaction, keys: given, clock, actor: 'cli:ada' })
  const record = (subject: string, given?: MasterKey) =>
    audited(given)(async (_tx, note) =>
      note({ action: 'integration.url_set', subject, details: { from: null, to: 'https://a.example/' } }),
    )
  const recordAll = (count: number) =>
    audited()(async (_tx, note) => {
      for (let index = 0; index < count; index += 1) note({ action: 'integration.enabled', subject: `s${index}` })
    })
  const log = () => store.committed.audit
  const verify = (given: MasterKey = keys) => createAuditQueries({ audit: store.audit, keys: given }).verify()
  return { store, clock, audited, record, recordAll, log, verify }
}

async function tenRecords() {
  const made = setup()
  for (let index = 1; index <= 10; index += 1) {
    await made.record(`s${index}`)
    await made.clock.advance(1_000)
  }
  return made
}

test('a change writes its record with who, what and when, numbered from 1', async () => {
  const { record, log, clock } = setup()
  await record('a')
  await record('b')
  expect(log()).toMatchObject([
    { seq: 1, subject: 'a', actor: 'cli:ada', at: clock.now(), keyVersion: keys.current.version },
    { seq: 2, subject: 'b', action: 'integration.url_set', details: { from: null, to: 'https://a.example/' } },
  ])
  for (const { hash } of log()) expect(hash).toMatch(/^[0-9a-f]{64}$/)
})

test('a change that rejects leaves no record, and a record that cannot be written leaves no change', async () => {
  const { audited, store, log } = setup()
  const failing = audited()(async (_tx, note) => {
    note({ action: 'legacy_key.revoked', subject: 'k' })
    throw new Error('rejected')
  })
  await expect(failing).rejects.toThrow('rejected')
  store.failures.push(new Error('disk'))
  const key = { id: 'k', name: '', secret: { keyVersion: 1, hash: 'h' }, createdAt: 1, revokedAt: null }
  const unwritten = audited()(async (tx, note) => {
    await tx.legacyKeys.insert(key)
    note({ action: 'legacy_key.created', subject: 'k' })
  })
  await expect(unwritten).rejects.toThrow('disk')
  expect([log(), await store.legacyKeys.list()]).toEqual([[], []])
})

test('a change takes the log before it touches anything', async () => {
  const { store, clock } = setup()
  const order: string[] = []
  const transaction: typeof store.transaction = (work) =>
    store.transaction((tx) => {
      const lockAudit = () => {
        order.push('lock')
        return tx.lockAudit()
      }
      return work({ ...tx, lockAudit })
    })
  await createAudited({ transaction, keys, clock, actor: 'a' })(async () => void order.push('work'))
  expect(order).toEqual(['lock', 'work'])
})

test.each(['', '  ', 'x'.repeat(201)])('a change rejects %j as its actor', (actor) => {
  const { store, clock } = setup()
  expect(() => createAudited({ transaction: store.transaction, keys, clock, actor })).toThrow(RangeError)
})

test('an unchanged log verifies, and the result names its last record', async () => {
  const { verify, log } = await tenRecords()
  const last = log()[9]
  expect(await verify()).toEqual({ records: 10, last: { seq: 10, hash: last?.hash, at: last?.at }, brokenAt: null })
})

test('the chain is checked in parts, which report their progress and end with the signal', async () => {
  const { recordAll, store } = setup()
  await recordAll(1_500)
  const { verify } = createAuditQueries({ audit: store.audit, keys })
  const progress: number[] = []
  await verify({ onProgress: (records) => progress.push(records) })
  expect(progress).toEqual([1_000, 1_500])
  const stop = new AbortController()
  await expect(verify({ onProgress: () => stop.abort(), signal: stop.signal })).rejects.toThrow('aborted')
})

test('a log whose oldest records retention removes between two pages is not broken', async () => {
  const { recordAll, audited, log, store } = setup()
  await recordAll(1_500)
  const details = { upTo: 1_200, hash: log()[1_199]?.hash ?? '' }
  const list: AuditStore['list'] = async (query) => {
    if (query.afterSeq === 1_000 && log().length === 1_500)
      await audited()(async (tx, note) => {
        await tx.removeAudit(1_200)
        note({ action: 'history.archived', subject: 'audit', details })
      })
    return store.audit.list(query)
  }
  const { verify } = createAuditQueries({ audit: { ...store.audit, list }, keys })
  expect(await verify()).toMatchObject({ records: 301, brokenAt: null })
})

const renumbered = (records: readonly AuditRecord[], from: number) =>
  records.map((record, index) => ({ ...record, seq: from + index }))

test.each<[string, (log: AuditRecord[]) => void, number]>([
  ['another actor', (log) => change(log, 3, { actor: 'cli:eve' }), 4],
  ['another time', (log) => change(log, 3, { at: 1 }), 4],
  ['another action', (log) => change(log, 3, { action: 'integration.enabled' }), 4],
  ['another subject', (log) => change(log, 3, { subject: 'other' }), 4],
  ['another detail', (log) => change(log, 3, { details: { from: null, to: 'https://b.example/' } }), 4],
  ['a detail more', (log) => change(log, 3, { details: { from: null, to: 'https://a.example/', more: 1 } }), 4],
  ['another hash', (log) => change(log, 3, { hash: '0'.repeat(64) }), 4],
  ['a key version that is not here', (log) => change(log, 3, { keyVersion: 7 }), 4],
  ['a record that is gone', (log) => log.splice(4, 1), 5],
  ['a first record that is gone', (log) => log.splice(0, 1), 1],
  ['a record that is gone, with the others moved up', (log) => log.splice(4, 6, ...renumbered(log.slice(5), 5)), 5],
  ['two records that were swapped', (log) => log.splice(2, 2, ...renumbered(log.slice(2, 4).reverse(), 3)), 3],
  ['a record put twice', (log) => log.splice(5, 0, ...log.slice(4, 5)), 6],
])('the chain shows %s', async (_what, tamper, brokenAt) => {
  const { log } = await tenRecords()
  expect(await tampered(log(), tamper)).toMatchObject({ records: brokenAt - 1, brokenAt })
})

test('the chain shows a genuine record of the same number from another course of the log, as from a restored copy', async () => {
  const [one, other] = [await tenRecords(), setup()]
  for (let index = 1; index <= 10; index += 1) {
    await other.record(index === 4 ? 'something else' : `s${index}`)
    await other.clock.advance(1_000)
  }
  expect(await other.verify()).toMatchObject({ brokenAt: null })
  const strange = other.log()[6]
  expect(await tampered(one.log(), (log) => change(log, 6, strange ?? {}))).toMatchObject({ brokenAt: 7 })
})

test('the chain does not show an end that was cut off, but the last record that was kept elsewhere does', async () => {
  const { log, verify } = await tenRecords()
  const before = await verify()
  const after = await tampered(log(), (log) => log.splice(8))
  expect(after.brokenAt).toBeNull()
  expect(after.last).not.toEqual(before.last)
})

test('the chain goes on under a new master key, and needs the old one to be checked', async () => {
  const { record, verify } = await tenRecords()
  const both = parseMasterKey(`${newKey},${oldKey}`)
  await record('after the rotation', both)
  expect(await verify(both)).toMatchObject({ records: 11, brokenAt: null })
  expect(await verify(parseMasterKey(newKey))).toMatchObject({ records: 0, brokenAt: 1 })
  expect(await verify(keys)).toMatchObject({ records: 10, brokenAt: 11 })
})

test.each([
  [null, null],
  ['https://shop.example/', 'https://shop.example/'],
  ['https://shop.example', 'https://shop.example'],
])('of the URL %j the log keeps all', (url, shown) => {
  expect(redactUrl(keys.current, url)).toBe(shown)
})

test.each([
  ['https://shop.example/secret', 'https://shop.example'],
  ['https://shop.example/?token=secret', 'https://shop.example'],
  ['https://user:secret@shop.example:8443/a/b#secret', 'https://shop.example:8443'],
  ['secret', 'unreadable'],
])('of the URL %j the log keeps the origin and a fingerprint, which another key makes otherwise', (url, origin) => {
  const shown = redactUrl(keys.current, url) ?? ''
  expect(shown.startsWith(`${origin}/[`)).toBe(true)
  expect(shown.slice(origin.length)).toMatch(/^\/\[[0-9a-f]{12}\]$/)
  expect(shown).not.toContain('secret')
  expect(redactUrl(keys.current, url)).toBe(shown)
  expect(redactUrl(keys.current, `${url}2`)).not.toBe(shown)
  expect(redactUrl(parseMasterKey(newKey).current, url)).not.toBe(shown)
})

function tampered(stored: readonly AuditRecord[], tamper: (log: AuditRecord[]) => void) {
  const log = [...stored]
  tamper(log)
  const audit: AuditStore = {
    newest: async () => log.at(-1) ?? null,
    list: async ({ afterSeq = 0, limit }) => log.filter(({ seq }) => seq > afterSeq).slice(0, limit),
  }
  return createAuditQueries({ audit, keys }).verify()
}

function change(log: AuditRecord[], index: number, fields: Partial<AuditRecord>): void {
  const record = log[index]
  if (record === undefined) throw new Error(`there is no record at ${index}`)
  log[index] = { ...record, ...fields }
}

const getHead = (seq: number): AuditHead => ({ seq, at: seq, hash: String(seq).padStart(64, '0') })

function running(head: () => Promise<AuditHead | null>) {
  const clock = manualClock()
  const logger = recordingLogger()
  const published: ServiceEvent[] = []
  const stop = new AbortController()
  const announcer = createHeadAnnouncer({
    audit: { head },
    ...{ clock, logger, random: { fraction: () => 1 }, publish: (event) => published.push(event) },
  })
  const ended = announcer.run(stop.signal)
  return { clock, logger, published, ended, stop: () => stop.abort() }
}

test('the newest record is announced at the start and once a day, as it is then', async () => {
  let seq = 1
  const { clock, published, ended, stop } = running(async () => getHead(seq))
  await until('the first one', () => published.length === 1)
  seq = 7
  await clock.advance(announceIntervalMs - 1)
  expect(published).toEqual([{ type: 'audit.head', ...getHead(1) }])
  await clock.advance(1)
  expect(published.slice(1)).toEqual([{ type: 'audit.head', ...getHead(7) }])
  stop()
  await ended
})

test('a database that is away is asked again soon', async () => {
  let isAway = true
  const { clock, logger, published, ended, stop } = running(async () => {
    if (isAway) throw new Error('away')
    return getHead(3)
  })
  await clock.advance(10_000)
  expect(logger.lines).toContainEqual(expect.objectContaining({ level: 'warn' }))
  isAway = false
  await clock.advance(30_000)
  expect(published).toEqual([{ type: 'audit.head', ...getHead(3) }])
  stop()
  await ended
})
