import { describe, expect, it } from 'vitest'
import { getCommands } from '../../test/run-commands.js'
import { getEvents } from '../../test/test-io.js'

const address = `0x${'c3'.repeat(20)}`
const other = `0x${'d4'.repeat(20)}`
const shop = ['create', 'shop', '--address', address, '--accept', '137:USDC,USDT'] as const
const config = {
  coins: [{ chainId: 1, defaultAddress: other, tokens: [{ symbol: 'DAI', address: other }] }],
  onCompleteAction: { type: 'CLOSE_WINDOW', payload: { delayMilliseconds: 1_500 } },
}

describe('accounts create', () => {
  it('prints the account as it is stored: lowercased, with everything that it accepts', async () => {
    const { run } = getCommands('accounts')
    const { exitCode, lines, err } = await run(
      ...['create', 'Shop', '--address', address.toUpperCase().replace('0X', '0x')],
      ...['--accept', '137:USDC,USDT', '--accept', '1:ETH', '--accept', '137:DAI', '--default-address', `1:${other}`],
      ...['--redirect', 'https://shop.example/done'],
    )
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(lines.slice(1)).toEqual([
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
  const misspelt = JSON.stringify({ coins: [{ chainId: 1, defaultAdress: other, tokens: [{ symbol: 'ETH' }] }] })
  it.each([
    ['a handle that looks like an address', ['create', address, ...shop.slice(2)], '', 'handle: expected'],
    ['a redirect that runs a script', [...shop, '--redirect', 'javascript:alert(1)'], '', 'expected an absolute URL'],
    ['a configuration that is null', fromInput, 'null', 'config: expected object'],
    ['a configuration without coins', fromInput, '{}', 'config.coins: expected array'],
    ['a misspelt field', fromInput, misspelt, 'config.coins.0 has 1 field'],
  ])('%s is misuse: exits with 2 and stores nothing', async (_name, args, input, sentence) => {
    const { run, runWith, make } = getCommands('accounts')
    await make()
    const { exitCode, out, err } = await runWith(input, ...args)
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' })
    expect(err).toContain(sentence)
    expect((await run('list', '--json')).lines).toEqual([])
  })
})

describe('an unlisted token symbol', () => {
  const warning = (token: string) =>
    new RegExp(`^Warning: ${token} is not a known or configured token, .* PI_TOKENS_${token.split(':')[0]},`, 'm')

  it('is stored, with a warning on standard error', async () => {
    const { run } = getCommands('accounts')
    const created = await run('create', 'shop', '--address', address, '--accept', '137:USDX,USDC', '--accept', '1:usdc')
    expect(created.exitCode).toBe(0)
    expect(created.io.errors).toEqual([
      expect.stringMatching(warning('137:USDX')),
      expect.stringMatching(warning('1:usdc')),
    ])
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
    const variables = {
      PI_RPC_URL_31337: 'http://127.0.0.1:1',
      PI_ROUTERS_31337: `${other}@0.8`,
      PI_TOKENS_31337: `${other}:MINE:USD`,
    }
    const { runWith } = getCommands('accounts', variables)
    const [chainId, symbol] = accepted.split(':')
    const named = Object.entries(more).map(([id, tokens]) => ({ chainId: Number(id), tokens }))
    const coins = [{ chainId: Number(chainId), tokens: [{ symbol }] }, ...named]
    const created = await runWith(JSON.stringify({ coins }), 'create', 'shop', '--address', address, '--config', '-')
    expect(created).toMatchObject({ exitCode: 0, err: '' })
  })
})

describe('a known token that the configuration overrides', () => {
  it('is listed under its configured symbol only', async () => {
    const usdc = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359'
    const native = `0x${'ee'.repeat(20)}`
    const { run } = getCommands('accounts', {
      PI_RPC_URL_137: 'http://127.0.0.1:1',
      PI_TOKENS_137: `${usdc}:USDX:USD,${native}:GAS:POL`,
    })
    const created = await run('create', 'shop', '--address', address, '--accept', '137:USDX,USDC,GAS,POL')
    const warnings = ['137:USDC', '137:POL'].map((token) =>
      expect.stringContaining(`Warning: ${token} is not a known or configured token`),
    )
    expect(created.io.errors).toEqual(warnings)
  })
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
    expect(getEvents((await run('list', '--json')).io)).toMatchObject([
      { event: 'account', account: { handle: 'bar' } },
      { event: 'account', account: { handle: 'closed' } },
      { event: 'account', account: { handle: 'shop' } },
    ])
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

describe('accounts change', () => {
  it('replaces the address and keeps the configuration', async () => {
    const { run } = getCommands('accounts')
    await run(...shop, '--close-after', '2s')
    expect((await run('change', 'Shop', '--address', other)).lines).toEqual([
      'Changed shop.',
      `  Address  ${other}`,
      '  Accepts  137: USDC, USDT',
      '  Then     close the window after 2 s',
    ])
  })

  it('replaces the configuration as a whole and keeps the address', async () => {
    const { run } = getCommands('accounts')
    await run(...shop, '--close-after', '2s')
    expect((await run('change', 'shop', '--accept', '1:ETH')).lines).toEqual([
      'Changed shop.',
      `  Address  ${address}`,
      '  Accepts  1: ETH',
      '  Then     nothing',
    ])
  })

  it('rejects an invalid configuration, and changes nothing', async () => {
    const { run, runWith } = getCommands('accounts')
    await run(...shop)
    const refused = await runWith('{"coins":[{}]}', 'change', 'shop', '--address', other, '--config', '-')
    expect(refused).toMatchObject({ exitCode: 2, out: '' })
    expect((await run('list')).lines).toEqual([`shop  ${address}  137: USDC, USDT`])
  })
})

describe('accounts remove', () => {
  it('removes the account and prints its last state', async () => {
    const { run } = getCommands('accounts')
    await run(...shop)
    const { exitCode, lines } = await run('remove', 'Shop')
    expect(exitCode).toBe(0)
    expect(lines[0]).toBe('Removed shop. It was:')
    expect(lines).toContain('  Accepts  137: USDC, USDT')
    expect((await run('list', '--json')).lines).toEqual([])
  })
})

describe('a missing account or database', () => {
  const commands = [
    ['show', 'nobody'],
    ['change', 'nobody', '--address', address],
    ['remove', 'nobody'],
  ]

  it.each(commands)('%s %s exits with 1 and names the account', async (...args) => {
    const { run, make } = getCommands('accounts')
    await make()
    const { exitCode, out, err } = await run(...args)
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toContain('nobody')
  })
})
