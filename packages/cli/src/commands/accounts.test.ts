import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { getCommands } from '../../test/run-commands.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { type LinkConfigFlags, readLinkConfig } from './accounts.js'

const address = `0x${'c3'.repeat(20)}`
const other = `0x${'d4'.repeat(20)}`
const shop = ['create', 'shop', '--address', address, '--accept', '137:USDC,USDT'] as const
const config = {
  coins: [{ chainId: 1, defaultAddress: other, tokens: [{ symbol: 'DAI', address: other }] }],
  onCompleteAction: { type: 'CLOSE_WINDOW', payload: { delayMilliseconds: 1_500 } },
}

describe('accounts create', () => {
  it('makes a database for its owner alone, and prints the account as it is stored: lowercased, with all that it accepts', async () => {
    const { run, path } = getCommands('accounts')
    const { exitCode, lines, err } = await run(
      ...['create', 'Shop', '--address', address.toUpperCase().replace('0X', '0x')],
      ...['--accept', '137:USDC,USDT', '--accept', '1:ETH', '--accept', '137:DAI', '--default-address', `1:${other}`],
      ...['--redirect', 'https://shop.example/done'],
    )
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(lines).toEqual([
      `Created a new database: ${path}`,
      'Created shop.',
      `  Address  ${address}`,
      '  Accepts  137: USDC, USDT, DAI',
      `           1: ETH, paid to ${other}`,
      '  Then     redirect to https://shop.example/done',
    ])
  })

  it('prints one JSON object with --json, from a configuration on standard input', async () => {
    const { runWith } = getCommands('accounts')
    const { io, err } = await runWith(
      JSON.stringify(config),
      ...['create', 'shop', '--address', address, '--config', '-', '--json'],
    )
    expect(err).toBe('')
    expect(getEvents(io)).toEqual([
      { event: 'account.created', account: { handle: 'shop', address, config, createdAt: expect.any(Number) } },
    ])
  })

  const fromInput = ['create', 'shop', '--address', address, '--config', '-']
  const misspelled = JSON.stringify({ coins: [{ chainId: 1, defaultAdress: other, tokens: [{ symbol: 'ETH' }] }] })
  it.each([
    ['a handle that looks like an address', ['create', address, ...shop.slice(2)], '', 'handle: expected'],
    ['a redirect that runs a script', [...shop, '--redirect', 'javascript:alert(1)'], '', 'expected an absolute URL'],
    ['a configuration that is null', fromInput, 'null', 'config: expected object'],
    ['a configuration without coins', fromInput, '{}', 'config.coins: expected array'],
    ['a misspelled field', fromInput, misspelled, 'config.coins.0 has 1 field'],
  ])('%s is misuse: exits with 2 and stores nothing', async (_name, args, input, sentence) => {
    const { run, runWith, make } = getCommands('accounts')
    await make()
    const { exitCode, out, err } = await runWith(input, ...args)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain(sentence)
    expect((await run('list', '--json')).lines).toEqual([])
  })
})

const warning = (token: string) =>
  new RegExp(`^Warning: ${token} is not a known or configured token, .* PI_TOKENS_${token.split(':')[0]},`, 'm')

describe('an unlisted token symbol', () => {
  it('is stored, with a warning on standard error', async () => {
    const { run } = getCommands('accounts')
    const created = await run('create', 'shop', '--address', address, '--accept', '137:USDX,USDC', '--accept', '1:usdc')
    expect(created.exitCode).toBe(0)
    expect(created.io.errors).toEqual(['137:USDX', '1:usdc'].map((token) => expect.stringMatching(warning(token))))
    expect(created.out).not.toContain('Warning')
    const changed = await run('change', 'shop', '--accept', '5:USDC', '--json')
    expect(changed).toMatchObject({ exitCode: 0, err: expect.stringMatching(warning('5:USDC')) })
    expect(getEvents(changed.io)).toMatchObject([{ event: 'account.changed' }])
    expect((await run('change', 'shop', '--address', other)).err).toBe('')
  })

  it.each([
    ['one with an address, and the native token', '31337:ETH', { 5: [{ symbol: 'USDX', address: other }] }],
    ['one in PI_TOKENS_', '31337:MINE', {}],
  ])('does not include %s', async (_name, accepted, more) => {
    const chain = { PI_RPC_URL_31337: 'http://127.0.0.1:1', PI_ROUTERS_31337: `${other}@0.8` }
    const { runWith } = getCommands('accounts', { ...chain, PI_TOKENS_31337: `${other}:MINE:USD` })
    const [chainId, symbol] = accepted.split(':')
    const named = Object.entries(more).map(([id, tokens]) => ({ chainId: Number(id), tokens }))
    const coins = [{ chainId: Number(chainId), tokens: [{ symbol }] }, ...named]
    const created = await runWith(JSON.stringify({ coins }), 'create', 'shop', '--address', address, '--config', '-')
    expect(created).toMatchObject({ exitCode: 0, err: '' })
  })
})

it('a known token that the configuration overrides is listed under its configured symbol only', async () => {
  const tokens = `0x3c499c542cef5e3811e1192ce70d8cc03d5c3359:USDX:USD,0x${'ee'.repeat(20)}:GAS:POL`
  const { run } = getCommands('accounts', { PI_RPC_URL_137: 'http://127.0.0.1:1', PI_TOKENS_137: tokens })
  const created = await run('create', 'shop', '--address', address, '--accept', '137:USDX,USDC,GAS,POL')
  expect(created.io.errors).toEqual(['137:USDC', '137:POL'].map((token) => expect.stringMatching(warning(token))))
})

describe('accounts list and show', () => {
  it('prints one line each, by handle', async () => {
    const { run, runWith } = getCommands('accounts')
    await run(...shop)
    await run('create', 'bar', '--address', other, '--accept', '1:ETH', '--accept', '10:DAI')
    await runWith('{"coins":[]}', 'create', 'closed', '--address', other, '--config', '-')
    expect((await run('list')).lines).toEqual([
      `bar  ${other}  1: ETH; 10: DAI`,
      `closed  ${other}  accepts nothing`,
      `shop  ${address}  137: USDC, USDT`,
    ])
    expect(getEvents((await run('list', '--json')).io)).toMatchObject(
      ['bar', 'closed', 'shop'].map((handle) => ({ event: 'account', account: { handle } })),
    )
  })

  it('shows one account in full, found in any case', async () => {
    const { run, runWith } = getCommands('accounts')
    await runWith(JSON.stringify(config), 'create', 'shop', '--address', address, '--config', '-')
    expect((await run('show', 'SHOP')).lines).toEqual([
      'shop',
      `  Address  ${address}`,
      `  Accepts  1: DAI (${other}), paid to ${other}`,
      '  Then     close the window after 1.5 s',
    ])
    expect(getEvents((await run('show', 'shop', '--json')).io)).toMatchObject([
      { event: 'account', account: { config } },
    ])
  })
})

it('accounts change replaces the address or the whole configuration, and keeps the other', async () => {
  const { run } = getCommands('accounts')
  await run(...shop, '--close-after', '2s')
  const accepted = ['  Accepts  137: USDC, USDT', '  Then     close the window after 2 s']
  const moved = ['Changed shop.', `  Address  ${other}`]
  expect((await run('change', 'Shop', '--address', other)).lines).toEqual([...moved, ...accepted])
  const { lines } = await run('change', 'shop', '--accept', '1:ETH')
  expect(lines).toEqual([...moved, '  Accepts  1: ETH', '  Then     nothing'])
})

it('accounts remove removes the account and prints its last state', async () => {
  const { run } = getCommands('accounts')
  await run(...shop)
  const { exitCode, lines } = await run('remove', 'Shop')
  expect([exitCode, lines[0]]).toEqual([0, 'Removed shop. It was:'])
  expect(lines).toContain('  Accepts  137: USDC, USDT')
  expect((await run('list', '--json')).lines).toEqual([])
})

it.each([['show'], ['change', '--address', address], ['remove']])(
  '%s of an unknown account exits with 1 and names it',
  async (command, ...rest) => {
    const { run, make } = getCommands('accounts')
    await make()
    const { exitCode, out, err } = await run(command, 'nobody', ...rest)
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toContain('nobody')
  },
)

const usdc = { chainId: 137, symbols: ['USDC'] }
const onPolygon = { chainId: 137, address: other }
const read = (flags: LinkConfigFlags, ...input: (string | Uint8Array)[]) =>
  readLinkConfig(flags, testIo({ input: () => Readable.from(input.map((part) => Buffer.from(part))) }))

describe('readLinkConfig, from flags', () => {
  it('joins the tokens of a chain, each once, and closes the window after 0 s too', async () => {
    const accept = [usdc, { chainId: 137, symbols: ['USDT', 'USDC'] }]
    expect(await read({ accept, closeAfter: 0 })).toEqual({
      coins: [{ chainId: 137, tokens: [{ symbol: 'USDC' }, { symbol: 'USDT' }] }],
      onCompleteAction: { type: 'CLOSE_WINDOW', payload: { delayMilliseconds: 0 } },
    })
  })

  it.each([
    [{ redirect: 'https://shop.example', closeAfter: 0 }, 'exclude each other'],
    [{ accept: [usdc], redirect: 'https://shop.example', closeAfter: 1 }, 'exclude each other'],
    [{ closeAfter: 0 }, 'add them with --accept'],
    [{ config: 'x.json', accept: [usdc] }, '--config holds a whole configuration'],
    [{ config: 'x.json', closeAfter: 0 }, '--config holds a whole configuration'],
    [{ accept: [usdc], defaultAddress: [{ chainId: 1, address: other }] }, 'chain 1, which has no accepted tokens'],
    [{ accept: [usdc], defaultAddress: [onPolygon, onPolygon] }, '--default-address names a chain twice'],
  ])('%j is misuse', async (flags, sentence) => {
    await expect(read(flags)).rejects.toMatchObject({ code: 'ERR_USAGE', message: expect.stringContaining(sentence) })
  })
})

describe('readLinkConfig, from JSON', () => {
  const config = { coins: [{ chainId: 137, tokens: [{ symbol: 'USD₮0' }] }] }
  const text = JSON.stringify(config)
  const bytes = Buffer.from(text)

  it('reads a file, also with a byte order mark', async () => {
    const path = join(temporaryFolder(), 'link.json')
    for (const mark of ['', '\uFEFF']) {
      writeFileSync(path, mark + text)
      expect(await read({ config: path })).toEqual(config)
    }
  })

  it('reads standard input in pieces, cut inside a character', async () => {
    const cut = bytes.indexOf('₮') + 1
    expect(await read({ config: '-' }, bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(config)
  })

  it.each([
    ['nothing', '', 'Standard input is not JSON'],
    ['half of it', text.slice(0, -1), 'Standard input is not JSON: see character'],
    ['two documents', text + text, `Standard input is not JSON: see character ${text.length + 1}.`],
    ['bytes that are not UTF-8', Uint8Array.of(0xff, 0xfe), 'Standard input is not text in UTF-8.'],
    ['more than 4 MiB', ' '.repeat(4 * 1024 * 1024 + 1), 'Standard input is larger than 4 MiB.'],
  ])('%s is misuse', async (_name, input, sentence) => {
    const error = { code: 'ERR_USAGE', message: expect.stringContaining(sentence) }
    await expect(read({ config: '-' }, input)).rejects.toMatchObject(error)
  })

  it('quotes nothing of a file that is not JSON', async () => {
    const error = await read({ config: '-' }, 's3cret-of-another-file').catch((reason: unknown) => reason)
    expect((error as Error).message).toContain('is not JSON')
    expect(String((error as Error).stack)).not.toContain('s3cret')
  })

  it('stops waiting for input when the command is interrupted', async () => {
    const io = testIo({ input: () => new Readable({ read() {} }) })
    const reading = readLinkConfig({ config: '-' }, io).catch((error: unknown) => error)
    await setImmediate()
    io.interrupt()
    const message = 'Standard input was not read: the command was interrupted.'
    expect(await reading).toMatchObject({ code: 'ERR_INTERRUPTED', message })
  })
})
