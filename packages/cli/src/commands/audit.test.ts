import { describe, expect, it } from 'vitest'
import { getCommands } from '../../test/run-commands.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { openSqlite } from '../files.js'
import { runCli } from '../run-cli.js'

const address = `0x${'a1'.repeat(20)}`

/** The commands on a database whose audit log has so many records. */
async function audited(records: number) {
  const commands = getCommands('audit')
  const integrations = getCommands('integrations', commands.env)
  await integrations.run('create', address, '--actor', 'alice', '--url', 'https://shop.example/hook?key=SECRET')
  for (let seq = 2; seq <= records; seq += 1) await integrations.run(seq % 2 === 0 ? 'disable' : 'enable', address)
  function change(sql: string) {
    const database = openSqlite(commands.path)
    database.exec(sql)
    database.close()
  }
  return { ...commands, change }
}

const records = (lines: readonly string[]) => lines.map((line) => Number(/^ *(\d+) /.exec(line)?.[1]))

describe('audit list', () => {
  it('prints time, actor, action and subject, without secrets', async () => {
    const { run } = await audited(2)
    const { exitCode, lines } = await run('list')
    expect(exitCode).toBe(0)
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
    const url = String.raw`.*https://shop[.]example/\[[0-9a-f]{12}\]`
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^ +1 {2}${time} {2}alice {2}integration[.]created {2}${address} ${url}`)),
      expect.stringMatching(new RegExp(`^ +2 {2}${time} {2}cli:\\S+ {2}integration[.]disabled {2}${address}`)),
    ])
    expect(lines.join('\n')).not.toContain('SECRET')
    expect(getEvents((await run('list', '--json')).io)).toMatchObject([
      { event: 'audit', record: { seq: 1, actor: 'alice', action: 'integration.created', subject: address } },
      { event: 'audit', record: { seq: 2, action: 'integration.disabled', keyVersion: expect.any(Number) } },
    ])
  })

  it('prints the newest records, reports omitted ones, and pages with --after', async () => {
    const { run } = await audited(9)
    const newest = await run('list', '--limit', '4')
    expect(records(newest.lines.slice(0, -1))).toEqual([6, 7, 8, 9])
    expect(newest.lines.at(-1)).toBe('The newest 4 of 9 records; --all prints all.')
    expect(records((await run('list', '--all')).lines)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(records((await run('list')).lines)).toHaveLength(9)
    const page = await run('list', '--after', '2', '--limit', '3')
    expect(records(page.lines.slice(0, -1))).toEqual([3, 4, 5])
    expect(page.lines.at(-1)).toBe('4 more follow; continue with --after 5.')
    expect(records((await run('list', '--after', '7')).lines)).toEqual([8, 9])
    expect((await run('list', '--after', '9')).lines).toEqual([])
    const more = { event: 'more', shown: 1, newest: 9 }
    expect(getEvents((await run('list', '--limit', '1', '--json')).io).at(-1)).toEqual(more)
  })

  it('begins with the oldest record that retention kept, and counts no removed one', async () => {
    const { run, change } = await audited(5)
    change('delete from audit where seq < 3')
    expect(records((await run('list')).lines)).toEqual([3, 4, 5])
    const { lines } = await run('list', '--after', '0', '--limit', '2')
    expect([records(lines.slice(0, -1)), lines.at(-1)]).toEqual([[3, 4], '1 more follow; continue with --after 4.'])
  })
})

describe('audit head', () => {
  it('prints a record that verify --expect finds until the log is rewritten', async () => {
    const { run, change, env } = await audited(3)
    const { exitCode, out } = await run('head')
    expect(exitCode).toBe(0)
    const [, anchor = ''] = /^(3:[0-9a-f]{64}) {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/.exec(out) ?? []
    const [seq, hash] = anchor.split(':')
    expect(getEvents((await run('head', '--json')).io)).toEqual([
      { event: 'audit.head', head: { seq: Number(seq), hash, at: expect.any(Number) } },
    ])
    await getCommands('integrations', env).run('disable', address)
    expect((await run('head')).out).toMatch(/^4:/)
    expect((await run('verify', '--expect', anchor)).exitCode).toBe(0)
    change(`update audit set hash = '${'0'.repeat(64)}' where seq = 3`)
    expect((await run('verify', '--expect', anchor)).lines.at(-1)).toContain('Record 3 is not the expected one')
  })
})

describe('audit verify', () => {
  it('exits with 0 for an unchanged log, and prints the newest record to store', async () => {
    const { run } = await audited(3)
    const { exitCode, lines } = await run('verify')
    expect(exitCode).toBe(0)
    expect(lines[0]).toMatch(/^The audit log is unchanged: 3 records, the newest of /)
    const anchor = /Store (3:[0-9a-f]{64}) outside/.exec(lines[1] ?? '')?.[1] ?? ''
    expect((await run('verify', '--expect', anchor)).lines.at(-1)).toBe('Record 3 is the expected one.')
    const [event] = getEvents((await run('verify', '--json')).io)
    expect(event).toMatchObject({ event: 'audit.verified', ok: true, records: 3, brokenAt: null, expected: null })
  })

  it('exits with 1 and names the first record that was changed', async () => {
    const { run, change } = await audited(3)
    change(`update audit set actor = '"nobody"' where seq = 2`)
    const { exitCode, out } = await run('verify')
    expect(exitCode).toBe(1)
    expect(out).toContain('The audit log is broken at record 2: ')
    expect(getEvents((await run('verify', '--json')).io)).toMatchObject([{ ok: false, brokenAt: 2 }])
  })

  it('--expect detects removed newest records', async () => {
    const { run, change } = await audited(3)
    const anchor = /Store (3:\S+)/.exec((await run('verify')).out)?.[1] ?? ''
    change('delete from audit where seq = 3')
    expect((await run('verify')).exitCode).toBe(0)
    const { exitCode, lines } = await run('verify', '--expect', anchor)
    expect(exitCode).toBe(1)
    expect(lines.at(-1)).toBe('Record 3 is not the expected one: the log was truncated or rewritten.')
    expect((await run('verify', '--expect', `2:${'0'.repeat(64)}`)).exitCode).toBe(1)
  })

  it('ends when it is interrupted', async () => {
    // It is aborted, as seen from the check between the parts of the log alone.
    const signal = Object.defineProperty(AbortSignal.abort(), 'aborted', { value: false })
    const io = testIo({ env: (await audited(1)).env, signal })
    expect([await runCli(['audit', 'verify'], io), io.lines]).toEqual([1, []])
    expect(io.errors.join()).toContain('Interrupted')
  })
})

describe('the actor in the audit log', () => {
  async function getActor(args: readonly string[], env: Record<string, string>, user: string | null) {
    const commands = getCommands('legacy-keys', env)
    const io = testIo({ env: commands.env, userName: () => user })
    expect(await runCli(['legacy-keys', 'create', ...args], io)).toBe(0)
    const [event] = getEvents((await getCommands('audit', commands.env).run('list', '--json')).io)
    return { ...(event?.['record'] as { actor?: string }) }.actor
  }

  it('is --actor, else PI_ACTOR, else the user of this machine, else unknown', async () => {
    expect(await getActor(['--actor', 'alice'], { PI_ACTOR: 'bob' }, 'carol')).toBe('alice')
    expect(await getActor([], { PI_ACTOR: 'bob' }, 'carol')).toBe('bob')
    expect(await getActor([], {}, 'carol')).toBe('cli:carol')
    expect(await getActor([], {}, null)).toBe('cli:unknown')
  })
})
