import { describe, expect, it } from 'vitest'
import { testIo } from '../test/test-io.js'
import { version } from './files.js'
import { runCli } from './run-cli.js'

const address = `0x${'a1'.repeat(20)}`

async function run(...args: string[]) {
  const io = testIo()
  const exitCode = await runCli(args, io)
  return { exitCode, out: io.lines.join('\n'), err: io.errors.join('\n') }
}

/** The words of every command that does something, read from the help of the commands above it. */
async function leaves(...words: string[]): Promise<string[][]> {
  const { out } = await run(...words, '--help')
  const [, list = ''] = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(out) ?? []
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name)
  if (names.length === 0) return [words]
  return (await Promise.all(names.map((name) => leaves(...words, name)))).flat()
}

describe('help and version', () => {
  it('prints the version', async () => {
    expect(await run('--version')).toEqual({ exitCode: 0, out: version, err: '' })
  })

  it('every command has help on standard output, with an example and the options that all have', async () => {
    const all = await leaves()
    expect(all.length).toBeGreaterThan(40)
    for (const words of all) {
      const { exitCode, out, err } = await run(...words, '--help')
      expect({ words, exitCode, err }).toEqual({ words, exitCode: 0, err: '' })
      expect(out, words.join(' ')).toMatch(new RegExp(`Examples:[^]*\\$ payment-integration ${words[0]}`))
    }
  })

  const ofChanges = ['--database', '--actor <name>', 'PI_ACTOR']
  it.each([
    ['accounts create', ['--address', '--config', '--accept', '--default-address', '--redirect', '--close-after']],
    ['operators create', ['--role', 'choices: "viewer", "operator",', 'default: "viewer"']],
    ...['integrations create', 'integrations rotate-secret'].map((words) => [words, ofChanges] as const),
    ...['legacy-keys revoke', 'operators set-role', 'secrets reseal'].map((words) => [words, ofChanges] as const),
  ] as const)('%s names its options', async (words, options) => {
    const { out } = await run(...words.split(' '), '--help')
    for (const option of options) expect(out).toContain(option)
  })
})

describe('misuse', () => {
  const rotate = ['integrations', 'rotate-secret', address]
  const resolve = ['identity', 'resolve', 'pi:lost:9']
  it.each<[args: string[], sentence: string]>([
    [[], 'Usage:'],
    [['nothing'], "unknown command 'nothing'"],
    [['serve', 'extra'], 'too many arguments'],
    [['serve', '--port', '65536'], 'Expected a whole number from 0 to 65535.'],
    [['serve', '--port'], 'argument missing'],
    [['dev', '--fast=postgres://app:SECRET@db/x'], "unknown option '--fast'"],
    [['dev', '--every', '3'], 'Expected a number and a unit'],
    [['dev', '--payments', '0'], 'Expected a whole number from 1 to 1000000.'],
    [['dev', '--until-idle'], 'pass it with --payments'],
    [['dev', '--until-idle', '--payments', '1', '--deadline', '0s'], 'Expected a time from 1ms to 24d.'],
    [['dev', '--deadline', '5s'], 'needs --until-idle; add it'],
    [['integrations', 'create', '0x12'], 'Expected 0x and 40 hex digits.'],
    [['integrations', 'create', address, '--url', 'shop'], 'Expected a full URL'],
    [[...rotate, '--grace', 'soon'], 'Expected a number and a unit'],
    [[...rotate, '--signing'], 'replaced in two steps'],
    [[...rotate, '--prepare'], 'replaced in two steps'],
    [[...rotate, '--signing', '--prepare', '--activate'], 'replaced in two steps'],
    [[...rotate, '--signing', '--prepare', '--grace', '1h'], 'need --activate'],
    [[...rotate, '--signing', '--abort', '--no-grace'], 'need --activate'],
    [resolve, '--applicant'],
    [[...resolve, '--none', '--applicant', 'x'], '--applicant'],
    [[...resolve, '--applicant', ''], '--applicant'],
    [[...resolve, '--applicant', ' '], '--applicant'],
    [['accounts', 'create', 'shop', '--address', '0x12'], 'Expected 0x and 40 hex digits.'],
    [['accounts', 'create', 'shop', '--address', address], 'Pass the accepted tokens'],
    [['accounts', 'create', 'shop', '--address', address, '--accept', 'USDC'], 'such as 137:USDC,USDT'],
    [['accounts', 'create', 'shop', '--address', address, '--close-after', '3'], 'Expected a number and a unit'],
    [['accounts', 'create', 'shop', '--address', address, '--redirect', 'https://a.example'], 'with --accept'],
    [['accounts', 'change', 'shop'], 'Pass a change'],
    [['accounts', 'change', 'shop', '--default-address', `1:${address}`], 'with --accept'],
    [['deliveries', 'list', '--integration', 'shop'], 'Expected 0x and 40 hex digits.'],
    [['deliveries', 'list', '--chain', 'mainnet'], 'Expected a chain id in plain digits.'],
    [['deliveries', 'list', '--tx', '0x12'], 'Expected 0x and 64 hex digits.'],
    [['deliveries', 'list', '--status', 'failed'], 'choices are pending, delivered, exhausted, superseded, missing.'],
    [['deliveries', 'list', '--since', 'yesterday'], 'Expected a time such as'],
    [['deliveries', 'list', '--since', '1h', '--until', '2h'], '--since is not before --until'],
    [['deliveries', 'list', '--limit', '0'], 'Expected a whole number from 1 to 1000000.'],
    [['deliveries', 'list', '--limit', '5', '--all'], "option '--all' cannot be used with option '--limit <number>'"],
    [['deliveries', 'list', '--count', '--all'], "option '--count' cannot be used with option '--all'"],
    [['deliveries', 'show', 'last'], 'Expected an id in plain digits'],
    [['deliveries', 'list', '--after', '-1'], 'Expected an id in plain digits'],
    [['deliveries', 'replay', '1', '--actor', ' '], 'Expected a name of 1 to 100 characters'],
    [['deliveries', 'replay-failed'], '--dry-run prints how many match'],
    [['deliveries', 'replay-failed', '--all', '--since', '2h'], '--all replays every exhausted delivery'],
    [['deliveries', 'replay-failed', '--status', 'delivered'], "unknown option '--status'"],
    [['feed', 'publish', '--max-age', '0s'], 'Expected a time from 1ms to 24d.'],
    [['mirror', '--every', '0s'], 'Expected a time from 1ms to 24d.'],
    [['audit', 'list', '--after', '-1'], 'Expected a whole number from 0'],
    [['audit', 'verify', '--expect', '12'], 'Expected a number and a hash'],
  ])('%j exits with 2 and prints the expected form', async (args, sentence) => {
    const { exitCode, out, err } = await run(...args)
    expect(err).toContain(sentence)
    expect([exitCode, out]).toEqual([2, ''])
  })

  it('misuse mentions --help, and prints neither a stack nor the value of an unknown option', async () => {
    const { err } = await run('dev', '--fast=first line\nSECRET')
    expect(err).toContain('Add --help')
    expect(err).not.toMatch(/ {4}at |SECRET/)
  })
})
