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
    [['--help'], ['deliveries', 'audit', 'secrets', 'explain']],
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
    [
      ['operators', '--help'],
      ['create', 'list', 'disable', 'enable', 'reset', 'set-role', 'Examples:'],
    ],
    [
      ['operators', 'create', '--help'],
      ['--role', 'choices: "viewer", "operator",', 'default: "viewer"', 'Examples:'],
    ],
    [
      ['deliveries', '--help'],
      ['list', 'show', 'replay', 'replay-failed', 'endpoints', 'Examples:'],
    ],
    [
      ['deliveries', 'list', '--help'],
      ['--integration', '--chain', '--tx', '--status', '--since', '--until', '--limit', '--after', '--all', '--count'],
    ],
    [
      ['deliveries', 'replay-failed', '--help'],
      ['--integration', '--chain', '--tx', '--since', '--until', '--all', '--dry-run', '--actor', 'Examples:'],
    ],
    ...[
      ...['list', 'show', 'replay', 'endpoints'].map((name) => ['deliveries', name]),
      ...['list', 'verify'].map((name) => ['audit', name]),
      ['secrets', 'reseal'],
    ].map((names) => [
      [...names, '--help'],
      ['--database', 'Examples:', `$ payment-integration ${names.join(' ')}`],
    ]),
    ...[
      ...['create', 'enable', 'disable', 'set-url', 'rotate-secret'].map((name) => ['integrations', name]),
      ...['create', 'revoke'].map((name) => ['legacy-keys', name]),
      ...['create', 'disable', 'enable', 'reset', 'set-role'].map((name) => ['operators', name]),
      ['deliveries', 'replay'],
      ['secrets', 'reseal'],
    ].map((names) => [
      [...names, '--help'],
      ['--actor <name>', 'PI_ACTOR'],
    ]),
    [
      ['audit', '--help'],
      ['list', 'verify', 'Examples:'],
    ],
    [['audit', 'verify', '--help'], ['--expect']],
    [
      ['explain', '--help'],
      ['--body', '--headers', '--entry', '--secret-env', '--secret-file', '--api-secret-env', '--now', 'Examples:'],
    ],
    [
      ['secrets', '--help'],
      ['reseal', 'Examples:'],
    ],
  ])('%j prints help on standard output and exits with 0', async (args, words) => {
    const { exitCode, out, err } = await run(...args)
    expect(exitCode).toBe(0)
    expect(err).toBe('')
    for (const word of words) expect(out).toContain(word)
  })
})

describe('misuse', () => {
  it.each<[args: string[], sentence: string]>([
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
    [['dev', '--until-idle'], 'pass it with --payments'],
    [['dev', '--deadline', '5s'], 'needs --until-idle; add it'],
    [['integrations', 'create'], "missing required argument 'address'"],
    [['integrations', 'create', '0x12'], 'Expected 0x and 40 hex digits.'],
    [['integrations', 'create', address, '--url', 'shop'], 'Expected a full URL'],
    [['integrations', 'set-url', address], "missing required argument 'url'"],
    [['integrations', 'rotate-secret', address, '--grace', 'soon'], 'Expected a number and a unit'],
    ...[['--signing'], ['--prepare'], ['--signing', '--prepare', '--activate']].map(
      (options): [string[], string] =>
        [['integrations', 'rotate-secret', address, ...options], 'replaced in two steps'] as const,
    ),
    ...[
      ['--signing', '--prepare', '--grace', '1h'],
      ['--signing', '--abort', '--no-grace'],
    ].map((options): [string[], string] => [['integrations', 'rotate-secret', address, ...options], 'need --activate']),
    ...[[], ['--none', '--applicant', 'x'], ['--applicant', ''], ['--applicant', ' ']].map(
      (options): [string[], string] => [['identity', 'resolve', 'pi:lost:9', ...options], '--applicant'],
    ),
    [['accounts'], 'Usage:'],
    [['accounts', 'create'], "required option '--address <address>'"],
    [['accounts', 'create', '--address', address], "missing required argument 'handle'"],
    [['accounts', 'create', 'shop', '--address', '0x12'], 'Expected 0x and 40 hex digits.'],
    [['accounts', 'create', 'shop', '--address', address], 'Pass the accepted tokens'],
    [['accounts', 'create', 'shop', '--address', address, '--accept', 'USDC'], 'such as 137:USDC,USDT'],
    [['accounts', 'create', 'shop', '--address', address, '--close-after', '3'], 'Expected a number and a unit'],
    [['accounts', 'create', 'shop', '--address', address, '--redirect', 'https://a.example'], 'with --accept'],
    [['accounts', 'change', 'shop'], 'Pass a change'],
    [['accounts', 'change', 'shop', '--default-address', `1:${address}`], 'with --accept'],
    [['accounts', 'show'], "missing required argument 'handle'"],
    [['accounts', 'remove'], "missing required argument 'handle'"],
    [['operators'], 'Usage:'],
    [['operators', 'set-role', 'alice'], "missing required argument 'role'"],
    [['legacy-keys'], 'Usage:'],
    [['legacy-keys', 'revoke'], "missing required argument 'id'"],
    [['deliveries'], 'Usage:'],
    [['deliveries', 'delete'], "unknown command 'delete'"],
    [['deliveries', 'list', '--integration', 'shop'], 'Expected 0x and 40 hex digits.'],
    [['deliveries', 'list', '--chain', 'mainnet'], 'Expected a chain id in plain digits.'],
    [['deliveries', 'list', '--tx', '0x12'], 'Expected 0x and 64 hex digits.'],
    [
      ['deliveries', 'list', '--status', 'failed'],
      'Allowed choices are pending, delivered, exhausted, superseded, missing.',
    ],
    [['deliveries', 'list', '--since', 'yesterday'], 'Expected a time such as'],
    [['deliveries', 'list', '--until', '2026-03-01T09:30'], 'Expected a time such as'],
    [['deliveries', 'list', '--since', '1h', '--until', '2h'], '--since is not before --until'],
    [['deliveries', 'list', '--limit', '0'], 'Expected a whole number from 1 to 1000000.'],
    [['deliveries', 'list', '--limit', '5', '--all'], "option '--all' cannot be used with option '--limit <number>'"],
    [['deliveries', 'list', '--count', '--all'], "option '--count' cannot be used with option '--all'"],
    [['deliveries', 'show'], "missing required argument 'id'"],
    [['deliveries', 'show', 'last'], 'Expected an id in plain digits'],
    [['deliveries', 'list', '--after', '-1'], 'Expected an id in plain digits'],
    [['deliveries', 'replay'], "missing required argument 'id'"],
    [['deliveries', 'replay', '1', '--actor', ' '], 'Expected a name of 1 to 100 characters'],
    [['deliveries', 'replay-failed'], '--dry-run prints how many match'],
    [['deliveries', 'replay-failed', '--all', '--since', '2h'], '--all replays every exhausted delivery'],
    [['deliveries', 'replay-failed', '--status', 'delivered'], "unknown option '--status'"],
    [['audit'], 'Usage:'],
    [['audit', 'list', '--after', '-1'], 'Expected a whole number from 0'],
    [['audit', 'list', '--limit', '5', '--all'], "option '--all' cannot be used with option '--limit <number>'"],
    [['audit', 'verify', '--expect', '12'], 'Expected a number and a hash'],
    [['secrets'], 'Usage:'],
    [['secrets', 'show'], "unknown command 'show'"],
  ])('%j exits with 2 and prints the expected form', async (args, sentence) => {
    const { exitCode, out, err } = await run(...args)
    expect(err).toContain(sentence)
    expect(exitCode).toBe(2)
    expect(out).toBe('')
  })

  it('misuse mentions --help and prints no stack', async () => {
    const { err } = await run('dev', '--fast')
    expect(err).toContain('Add --help')
    expect(err).not.toContain('    at ')
  })
})
