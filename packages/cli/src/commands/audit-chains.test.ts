import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, postgresMissing, type TestDatabase } from '../../../store-sql/test/postgres.js'
import { commandsOf } from '../../test/run-commands.js'
import { eventsOf } from '../../test/test-io.js'

const records = (lines: readonly string[]) => lines.map((line) => Number(/^ *(\d+) /.exec(line)?.[1]))

describe.skipIf(postgresMissing)(
  `audit of a database in shards${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    const [one, two] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
    let database: TestDatabase
    beforeEach(async () => {
      database = await createTestDatabase()
    })
    afterEach(() => database?.remove())

    /** The commands, and the numbers of nine records: of the service, one integration and the other in turn. */
    async function nineRecords() {
      const env = { PI_DATABASE_URL: database.connectionString, PI_DATABASE_SHARDS: '2' }
      const { run } = commandsOf('audit', env)
      expect((await commandsOf('migrate', env).run('apply')).exitCode).toBe(0)
      const [integrations, legacyKeys] = [commandsOf('integrations', env), commandsOf('legacy-keys', env)]
      for (const command of ['create', 'disable', 'enable']) {
        await legacyKeys.run('create')
        for (const each of [one, two]) expect((await integrations.run(command, each)).exitCode).toBe(0)
      }
      const events = eventsOf((await run('list', '--all', '--json')).io)
      return { run, written: events.map(({ record }) => (record as { seq: number }).seq) }
    }

    it('list prints the records of all chains by time, and --after those of one chain', async () => {
      const { run, written } = await nineRecords()
      expect(written.map((seq) => seq % 3 === 0)).toEqual(Array.from({ length: 9 }, (_, n) => n % 3 === 0))
      const newest = await run('list', '--limit', '4')
      expect(records(newest.lines.slice(0, -1))).toEqual(written.slice(-4))
      expect(newest.lines.at(-1)).toBe('The newest 4 of 9 records; --all prints all.')
      expect(records((await run('list', '--all')).lines)).toEqual(written)
      const page = await run('list', '--after', '3', '--limit', '1')
      expect(records(page.lines.slice(0, -1))).toEqual([6])
      expect(page.lines.at(-1)).toBe('1 more follow; continue with --after 6.')
      const [first = 0, ...others] = written.filter((seq) => seq % 3 === (written[1] ?? 0) % 3)
      expect(records((await run('list', '--after', String(first))).lines)).toEqual(others)
    })

    it('head prints a record of each chain, and verify expects them all', async () => {
      const { run, written } = await nineRecords()
      const heads = (await run('head')).lines.map((line) => line.split(' ')[0] ?? '')
      const chains = new Set(written.map((seq) => seq % 3))
      expect(heads.map((head) => Number.parseInt(head, 10) % 3)).toEqual([...chains].sort())
      const expected = (texts: readonly string[]) => texts.flatMap((text) => ['--expect', text])
      const { exitCode, lines } = await run('verify', ...expected(heads))
      expect([exitCode, lines[0]]).toEqual([0, expect.stringContaining('unchanged: 9 records')])
      expect(lines.filter((line) => line.endsWith('is the expected one.'))).toHaveLength(heads.length)
      const strange = `9:${'0'.repeat(64)}`
      const [event] = eventsOf((await run('verify', '--json', ...expected([...heads, strange]))).io)
      expect(event).toMatchObject({ ok: false, brokenAt: [], expected: false, missing: [9] })
    })

    it('verify names the first bad record of each broken chain', async () => {
      const { run, written } = await nineRecords()
      const admin = new pg.Client({ connectionString: database.connectionString })
      await admin.connect()
      const schema = 'payment_integration'
      await admin.query(`delete from ${schema}.audit where seq = 1`)
      for (const shard of [0, 1])
        await admin.query(`update ${schema}_s${shard}.audit set actor = '"eve"' where seq = 2`)
      await admin.end()
      const { exitCode, lines } = await run('verify')
      const broken = [3, 4, 5].filter((seq) => seq === 3 || written.includes(seq))
      expect([exitCode, lines.map((line) => Number(/broken at record (\d+):/.exec(line)?.[1]))]).toEqual([1, broken])
    })
  },
)
