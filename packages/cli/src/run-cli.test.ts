import { describe, expect, it } from 'vitest'
import { testIo } from '../test/test-io.js'
import { runCli } from './run-cli.js'
import { version } from './version.js'

const address = `0x${'a1'.repeat(20)}`

async function run(...args: string[]) {
  const io = testIo()
  const exitCode = await runCli(args, io)
  return { exitCode, out: io.lines.join('\n'), err: io.errors.join('\n') }
}

describe('help and version', () => {
  it('prints the version', async () => {
    expect(await run('--version')).toEqual({ exitCode: 0, out: version, err: '' })
  })

  it.each([
    [['--help'], ['dev', 'serve', 'status', 'reindex', 'integrations', 'accounts', 'legacy-keys', '--json', '--debug']],
    [
      ['dev', '--help'],
      ['--until-idle', '--seed', 'Examples:', '$ payment-integration dev', '--json'],
    ],
    [
      ['serve', '--help'],
      ['PI_PORT', 'Examples:', '$ payment-integration serve'],
    ],
    [
      ['status', '--help'],
      ['--url', '--database', 'Examples:', '$ payment-integration status'],
    ],
    [
      ['reindex', '--help'],
      ['--chain', '--from', '--to', '--endpoint', '--dry-run', 'Examples:', '$ payment-integration reindex'],
    ],
    [
      ['integrations', '--help'],
      ['create', 'list', 'enable', 'disable', 'set-url', 'rotate-secret', 'Examples:'],
    ],
    [
      ['integrations', 'create', '--help'],
      ['--url', 'Examples:'],
    ],
    [['integrations', 'list', '--help'], ['Examples:']],
    [['integrations', 'enable', '--help'], ['Examples:']],
    [['integrations', 'disable', '--help'], ['Examples:']],
    [
      ['integrations', 'set-url', '--help'],
      ['none', 'Examples:'],
    ],
    [
      ['integrations', 'rotate-secret', '--help'],
      ['--signing', '--grace', 'Examples:'],
    ],
    [
      ['accounts', '--help'],
      ['create', 'list', 'show', 'change', 'remove', 'Examples:'],
    ],
    ...['create', 'change'].map((name) => [
      ['accounts', name, '--help'],
      ['--address', '--config', '--accept', '--default-address', '--redirect', '--close-after', 'Examples:'],
    ]),
    ...['list', 'show', 'remove'].map((name) => [
      ['accounts', name, '--help'],
      ['--database', 'Examples:'],
    ]),
    [
      ['legacy-keys', '--help'],
      ['create', 'list', 'revoke', 'Examples:'],
    ],
    [
      ['legacy-keys', 'create', '--help'],
      ['--name', 'Examples:'],
    ],
    ...['list', 'revoke'].map((name) => [
      ['legacy-keys', name, '--help'],
      ['--database', 'Examples:'],
    ]),
  ])('%j prints help on standard output and ends 0', async (args, words) => {
    const { exitCode, out, err } = await run(...args)
    expect(exitCode).toBe(0)
    expect(err).toBe('')
    for (const word of words) expect(out).toContain(word)
  })
})

describe('misuse', () => {
  it.each([
    [[], 'Usage:'],
    [['nothing'], "unknown command 'nothing'"],
    [['integrations'], 'Usage:'],
    [['integrations', 'remove', address], "unknown command 'remove'"],
    [['serve', 'extra'], 'too many arguments'],
    [['serve', '--port', '65536'], 'Expected a whole number from 0 to 65535.'],
    [['serve', '--port'], 'argument missing'],
    [['dev', '--fast'], "unknown option '--fast'"],
    [['dev', '--every', '3'], 'Expected a number and a unit'],
    [['dev', '--payments', '0'], 'Expected a whole number from 1 to 1000000.'],
    [['dev', '--seed', '-1'], 'Expected a whole number from 0 to 4294967295.'],
    [['dev', '--until-idle'], 'name it with --payments'],
    [['dev', '--deadline', '5s'], '--until-idle; add it'],
    [['integrations', 'create'], "missing required argument 'address'"],
    [['integrations', 'create', '0x12'], 'Expected 0x and 40 hex digits.'],
    [['integrations', 'create', address, '--url', 'shop'], 'Expected a full URL'],
    [['integrations', 'set-url', address], "missing required argument 'url'"],
    [['integrations', 'rotate-secret', address, '--grace', 'soon'], 'Expected a number and a unit'],
    [['integrations', 'rotate-secret', address, '--signing', '--grace', '1h'], '--grace is for the API secret'],
    [['accounts'], 'Usage:'],
    [['accounts', 'create'], "required option '--address <address>'"],
    [['accounts', 'create', '--address', address], "missing required argument 'handle'"],
    [['accounts', 'create', 'shop', '--address', '0x12'], 'Expected 0x and 40 hex digits.'],
    [['accounts', 'create', 'shop', '--address', address], 'Say what the account accepts'],
    [['accounts', 'create', 'shop', '--address', address, '--accept', 'USDC'], 'such as 137:USDC,USDT'],
    [['accounts', 'create', 'shop', '--address', address, '--close-after', '3'], 'Expected a number and a unit'],
    [['accounts', 'create', 'shop', '--address', address, '--redirect', 'https://a.example'], 'with --accept'],
    [['accounts', 'change', 'shop'], 'Say what changes'],
    [['accounts', 'change', 'shop', '--default-address', `1:${address}`], 'with --accept'],
    [['accounts', 'show'], "missing required argument 'handle'"],
    [['accounts', 'remove'], "missing required argument 'handle'"],
    [['legacy-keys'], 'Usage:'],
    [['legacy-keys', 'revoke'], "missing required argument 'id'"],
  ])('%j ends 2 and says what was expected', async (args, sentence) => {
    const { exitCode, out, err } = await run(...args)
    expect(err).toContain(sentence)
    expect(exitCode).toBe(2)
    expect(out).toBe('')
  })

  it('says where help is, and prints no stack', async () => {
    const { err } = await run('dev', '--fast')
    expect(err).toContain('Add --help')
    expect(err).not.toContain('    at ')
  })
})
