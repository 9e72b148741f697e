import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { testIo } from '../../test/test-io.js'
import { type LinkConfigFlags, readLinkConfig } from './accounts.js'

const address = `0x${'d4'.repeat(20)}`
const usdc = { chainId: 137, symbols: ['USDC'] }
const onPolygon = { chainId: 137, address }
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
    [{ accept: [usdc], defaultAddress: [{ chainId: 1, address }] }, 'chain 1, which has no accepted tokens'],
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
    await expect(read({ config: '-' }, input)).rejects.toMatchObject({
      code: 'ERR_USAGE',
      message: expect.stringContaining(sentence),
    })
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
    expect(await reading).toMatchObject({
      code: 'ERR_INTERRUPTED',
      message: 'Standard input was not read: the command was interrupted.',
    })
  })
})
