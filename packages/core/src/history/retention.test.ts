import { expect, test } from 'vitest'
import { getArchive } from '../../test/support/archive.js'
import { manualClock } from '../../test/support/manual-clock.js'
import { openStore } from '../../test/support/store.js'
import { parseMasterKey } from '../secrets/keys.js'
import { beginSignedFile, openSignedFile } from '../secrets/signed-file.js'
import { type Audited, createAudited, createAuditQueries } from './audit-log.js'
import type {
  ArchiveHeader,
  HistoryRows,
  HistoryStore,
  RetentionOptions,
  RetentionPolicy,
  RetentionProgress,
  SegmentedKind,
} from './history-store.js'
import {
  checkPolicy,
  computeSegmentMs,
  createHistoryCommands,
  findExpiredParts,
  restoreRecords,
  segmentedKinds,
} from './retention.js'

const dayMs = 86_400_000
const keep: RetentionPolicy = { attempts: null, deliveries: null, updates: null, audit: null }
const week: RetentionPolicy = { ...keep, deliveries: 7 * dayMs, updates: 7 * dayMs }

/** Of any kind: nothing but the updates is restored here. */
const getRow = (seq: number): HistoryRows['updates'] => ({
  ...{ seq, id: `u${seq}`, paymentId: '7', version: 1, fingerprint: `0x${'f1'.repeat(16)}`, outcome: 'applied' },
  ...{ reason: null, update: null },
})

/** Two segments that ended, eight days and one day ago, and the newest. */
function setup() {
  const steps: string[] = []
  const [clock, store, archive] = [manualClock(), openStore(), getArchive(steps)]
  const now = clock.now()
  const begins = [0, now - 8 * dayMs, now - dayMs]
  const rows = new Map<string, readonly object[]>(
    segmentedKinds.flatMap((kind) =>
      begins.map((_, number): [string, readonly object[]] => [`${kind} ${number}`, [getRow(1), getRow(2)]]),
    ),
  )
  const pending = new Map<number, number>()
  const key = (kind: SegmentedKind, segment: number) => `${kind} ${segment}`
  const history: HistoryStore = {
    segments: async () => begins.map((begunAt, number) => ({ number, begunAt, endedAt: begins[number + 1] ?? null })),
    async beginSegment() {
      begins.push(clock.now())
    },
    async closeSegments(upTo) {
      steps.push(`close ${upTo}`)
    },
    pending: async () =>
      [...pending].map(([segment, count]) => ({ segment, integrationAddress: `0x${'5'.repeat(40)}`, count })),
    async exhaustPending() {
      const given = [...pending.values()].reduce((sum, count) => sum + count, 0)
      pending.clear()
      return given
    },
    count: async (kind, segment) => rows.get(key(kind, segment))?.length ?? 0,
    part: async (kind, segment) => ({
      async *rows() {
        yield (rows.get(key(kind, segment)) ?? []) as never[]
      },
      async remove() {
        steps.push(`remove ${key(kind, segment)}`)
        rows.delete(key(kind, segment))
      },
    }),
    async restore(kind, segment, group) {
      rows.set(key(kind, segment), [...group])
    },
  }
  const keys = parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90')
  const audited = createAudited({ transaction: store.transaction, keys, clock, actor: 'cli:ada' })
  const verify = () => createAuditQueries({ audit: store.audit, keys }).verify()
  const commands = createHistoryCommands({
    store: { history, audit: store.audit, leases: store.leases },
    random: { bytes: () => new Uint8Array(16) },
    audited,
    keys,
    clock,
  })
  const progress: RetentionProgress[] = []
  const run = (policy: RetentionPolicy, options: RetentionOptions = {}) =>
    commands.run(policy, archive, { ...options, onProgress: (each) => progress.push(each) })
  const seqs = async () => (await store.audit.list({ limit: 999 })).map(({ seq }) => seq)
  const record = (subject: string) => audited(async (_tx, note) => note({ action: 'integration.enabled', subject }))
  const parts = { keys, commands, history, archive, audited, store, clock, rows, pending, progress, steps }
  return { ...parts, begins, run, verify, seqs, record }
}

test('a part is in a file and in the audit log before it is removed, attempts before their deliveries', async () => {
  const { run, steps, store, archive, rows, keys, commands } = setup()
  await run(week)
  const part = (kind: string) => ['write', 'write', 'write', 'finish', `remove ${kind} 0`]
  expect(steps).toEqual(['close 0', ...part('attempts'), ...part('deliveries'), ...part('updates')])
  expect([...archive.files.keys()]).toEqual(['attempts-0', 'deliveries-0', 'updates-0'])
  expect(archive.lines('updates-0')).toEqual([
    { format: 2, keyVersion: keys.current.version, kind: 'updates', part: 0, writtenAt: expect.any(Number) },
    ...[getRow(1), getRow(2)],
    { hmac: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ])
  const details = { part: 0, rows: 2, hmac: expect.stringMatching(/^[0-9a-f]{64}$/) }
  expect(await store.audit.list({ limit: 9 })).toMatchObject(
    ['attempts', 'deliveries', 'updates'].map((subject) => ({
      ...{ action: 'history.archived', actor: 'cli:ada', subject },
      details: { ...details, file: `${subject}-0` },
    })),
  )
  expect([...rows.keys()]).not.toContain('deliveries 0')
  expect([...rows.keys()]).toContain('deliveries 1')
  expect(await commands.restore(archive, 'updates-0')).toMatchObject({ rows: 2 })
  expect(rows.get('updates 0')).toEqual([getRow(1), getRow(2)])
})

test.each(['write', 'finish'])('when %s fails, nothing is removed and the file is discarded', async (failing) => {
  const { run, archive, steps, rows, store } = setup()
  archive.failing = failing
  await expect(run(week)).rejects.toThrow(`${failing} failed`)
  expect(steps.at(-1)).toBe('discard')
  expect([rows.size, archive.files.size, (await store.audit.list({ limit: 9 })).length]).toEqual([9, 0, 0])
})

test('a segment with pending deliveries stays whole, and the others leave', async () => {
  const { run, pending, progress, rows } = setup()
  pending.set(0, 3)
  await run({ ...week, deliveries: dayMs })
  expect(progress.filter(({ event }) => event === 'kept')).toMatchObject([{ pending: { segment: 0, count: 3 } }])
  const left = 'attempts 0, attempts 2, deliveries 0, deliveries 2, updates 1, updates 2'
  expect([...rows.keys()].join(', ')).toBe(left)
})

test('pending deliveries are given up when the operator says so, and that is in the audit log', async () => {
  const { run, pending, progress, rows, store } = setup()
  pending.set(0, 3)
  await run(week, { givesUp: true })
  expect(progress[1]).toEqual({ event: 'given_up', deliveries: 3 })
  expect([...rows.keys()]).not.toContain('deliveries 0')
  const [first] = await store.audit.list({ limit: 1 })
  expect(first).toMatchObject({ action: 'deliveries.given_up', details: { deliveries: 3, upTo: 0 } })
})

test('a plan names what a run would remove, and changes nothing', async () => {
  const { commands, rows, begins, steps, record, clock, store, pending } = setup()
  await record('a')
  await clock.advance(dayMs)
  await record('b')
  const plan = await commands.plan({ ...week, audit: dayMs })
  expect(plan.expired.map(({ kind, part, rows: count }) => `${kind} ${part} ${count}`)).toEqual([
    ...['attempts 0 2', 'deliveries 0 2', 'updates 0 2'],
    'audit 1 1',
  ])
  pending.set(0, 3)
  const less = await commands.plan(week)
  expect([less.expired.map(({ kind }) => kind), less.pending]).toMatchObject([['updates'], [{ segment: 0, count: 3 }]])
  expect([rows.size, begins.length, steps, (await store.audit.list({ limit: 9 })).length]).toEqual([9, 3, [], 2])
})

test('of two runs at once the second is rejected, and after the first another one may run', async () => {
  const { run, store, rows } = setup()
  const other = { name: 'retention', holder: 'other', ttlMs: 60_000 }
  await store.leases.acquire(other)
  await expect(run(week)).rejects.toMatchObject({ code: 'ERR_STORE_BUSY' })
  expect(rows.size).toBe(9)
  await store.leases.release(other)
  await run(week)
  expect([rows.size, await store.leases.acquire(other)]).toEqual([6, true])
})

test.each(['written', 'read again'])('a run that is aborted while a file is %s removes nothing', async (when) => {
  const { commands, archive, rows, store } = setup()
  const stop = new AbortController()
  const aborting = {
    ...archive,
    async create(header: ArchiveHeader) {
      if (when === 'written') stop.abort()
      return archive.create(header)
    },
    open(name: string) {
      stop.abort()
      return archive.open(name)
    },
  }
  await expect(commands.run(week, aborting, { signal: stop.signal })).rejects.toThrow('aborted')
  expect([rows.size, await store.audit.list({ limit: 9 })]).toEqual([9, []])
  expect(archive.files.size).toBe(when === 'written' ? 0 : 1)
})

test.each([
  // Records are counted in parts of 1,000.
  ['expired records are counted', 1_000],
  // The check of the chain begins with the oldest record alone.
  ['the chain is checked', 1],
])('a run that is aborted while %s reads no more of the audit log', async (_when, limit) => {
  const { run, record, clock, store } = setup()
  for (const subject of ['a', 'b', 'c']) await record(subject)
  await clock.advance(2 * dayMs)
  const { list } = store.audit
  const stop = new AbortController()
  const limits: number[] = []
  store.audit.list = (query) => {
    limits.push(query.limit)
    if (query.limit === limit) stop.abort()
    return list(query)
  }
  await expect(run({ ...keep, audit: dayMs }, { signal: stop.signal })).rejects.toThrow('aborted')
  expect(limits.filter((each) => each === limit)).toHaveLength(1)
  expect(limits.at(-1)).toBe(limit)
})

test('the audit log without its oldest records verifies, and a change of the others shows', async () => {
  const { run, record, clock, verify, seqs, store } = setup()
  for (const subject of ['a', 'b', 'c']) await record(subject)
  await clock.advance(dayMs)
  await record('d')
  await run({ ...keep, audit: dayMs })
  expect(await seqs()).toEqual([4, 5])
  expect(await verify()).toMatchObject({ records: 2, brokenAt: null })
  store.sql('update audit set subject = ? where seq = 4', '"else"')
  expect(await verify()).toMatchObject({ records: 0, last: null, brokenAt: 4 })
  store.sql('delete from audit where seq = 4')
  expect((await verify()).brokenAt).toBe(1)
})

test('records of a file that is not the next one, or no longer once the log is locked, are not restored', async () => {
  const { run, record, clock, seqs, commands, archive, audited, store, verify, keys } = setup()
  for (const subject of ['a', 'b']) await record(subject)
  await clock.advance(dayMs)
  await run({ ...keep, audit: dayMs })
  await clock.advance(dayMs)
  await record('c')
  await clock.advance(dayMs)
  const file = await openSignedFile(keys, 'archive-file', archive.open('audit-1'))
  const lockAfterRun: Audited = async (work) => {
    await run({ ...keep, audit: dayMs })
    return audited(work)
  }
  await expect(restoreRecords(store.audit, lockAfterRun, file)).rejects.toThrow('First restore the file that ends')
  expect(await verify()).toMatchObject({ brokenAt: null })
  const before = await seqs()
  await expect(commands.restore(archive, 'audit-1')).rejects.toThrow('First restore the file that ends with record')
  expect(await seqs()).toEqual(before)
})

test.each([
  ['of now', null],
  ['that says it is older than the audit log', 1],
])('a file %s that no record of the audit log names is not restored, though it is signed', async (_name, at) => {
  const { record, clock, archive, keys, commands, rows } = setup()
  await record('a')
  const header: ArchiveHeader = { kind: 'updates', part: 1, writtenAt: at ?? clock.now() }
  const file = await archive.create(header)
  const writer = await beginSignedFile(keys, 'archive-file', file, header)
  await writer.write([getRow(9)])
  await writer.finish()
  await expect(commands.restore(archive, file.name)).rejects.toThrow('No record of the audit log names')
  expect(rows.get('updates 1')).toEqual([getRow(1), getRow(2)])
})

test('restored records join the log again, and the newest record of all never leaves', async () => {
  const { run, record, clock, verify, seqs, commands, archive, store } = setup()
  for (const subject of ['a', 'b', 'c']) await record(subject)
  const before = await store.audit.list({ limit: 9 })
  await clock.advance(2 * dayMs)
  await run({ ...keep, audit: dayMs })
  expect(await seqs()).toEqual([3, 4])
  await commands.restore(archive, 'audit-1')
  expect(await store.audit.list({ limit: 3 })).toEqual(before)
  expect(await verify()).toMatchObject({ records: 5, brokenAt: null })
  await clock.advance(2 * dayMs)
  await run({ ...keep, audit: dayMs })
  expect(await seqs()).toEqual([5, 6])
  expect(await verify()).toMatchObject({ records: 2, brokenAt: null })
})

test('an audit log that is broken stays whole, so that no run hides it', async () => {
  const { run, record, clock, seqs, progress, archive, store } = setup()
  for (const subject of ['a', 'b', 'c']) await record(subject)
  store.sql('delete from audit where seq = 1')
  await clock.advance(2 * dayMs)
  await run({ ...keep, audit: dayMs })
  expect([await seqs(), archive.files.size]).toEqual([[2, 3], 0])
  expect(progress.at(-1)).toEqual({ event: 'audit_broken', brokenAt: 1 })
})

test('a store without history that ends rejects, and so does a time that is too short', async () => {
  const { audited, store, keys, clock, archive, run } = setup()
  const commands = createHistoryCommands({
    ...{ store: { ...store, history: null }, audited, keys, clock },
    random: { bytes: () => new Uint8Array(16) },
  })
  await expect(commands.run(week, archive)).rejects.toThrow('for ever')
  await expect(run({ ...keep, updates: 1 })).rejects.toThrow(RangeError)
})

test('segments are a day long, less for shorter times, and 64 of them span the longest time', () => {
  expect(computeSegmentMs(keep)).toBeNull()
  expect(computeSegmentMs({ ...keep, audit: dayMs })).toBeNull()
  expect(computeSegmentMs({ ...keep, deliveries: 30 * dayMs })).toBe(dayMs)
  expect(computeSegmentMs({ ...keep, deliveries: 640 * dayMs, attempts: 2 * dayMs })).toBe(10 * dayMs)
  expect(computeSegmentMs({ ...keep, deliveries: 60_000 })).toBe(60_000)
})

test('where deliveries never end, segments are 30 days long: none of them is ever removed whole', () => {
  expect(computeSegmentMs({ ...keep, attempts: dayMs })).toBe(30 * dayMs)
  expect(computeSegmentMs({ ...keep, updates: 6_400 * dayMs })).toBe(100 * dayMs)
})

test('a segment ends for each kind by its own time, after the segment itself', () => {
  const segments = [
    { number: 0, begunAt: 0, endedAt: 10 * dayMs },
    { number: 1, begunAt: 10 * dayMs, endedAt: 11 * dayMs },
    { number: 2, begunAt: 11 * dayMs, endedAt: null },
  ]
  const ended = (policy: Partial<RetentionPolicy>, day: number) =>
    findExpiredParts(segments, { ...keep, ...policy }, day * dayMs).map(({ kind, part }) => `${kind} ${part}`)
  expect(ended({ deliveries: 5 * dayMs }, 14.9)).toEqual([])
  expect(ended({ deliveries: 5 * dayMs }, 15)).toEqual(['attempts 0', 'deliveries 0'])
  expect(ended({ deliveries: 5 * dayMs, attempts: dayMs }, 15)).toEqual(['attempts 0', 'attempts 1', 'deliveries 0'])
  expect(ended({ deliveries: dayMs, attempts: 9 * dayMs }, 12)).toEqual([
    ...['attempts 0', 'attempts 1'],
    ...['deliveries 0', 'deliveries 1'],
  ])
  expect(ended({ attempts: dayMs }, 999)).toEqual(['attempts 0', 'attempts 1'])
  expect(ended({ updates: 2 * dayMs }, 12)).toEqual(['updates 0'])
  expect(ended({}, 999)).toEqual([])
})

test.each([0, 59_999, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a time of %d ms is rejected', (ms) => {
  expect(() => checkPolicy({ ...keep, updates: ms })).toThrow(RangeError)
  expect(() => checkPolicy(keep)).not.toThrow()
})
