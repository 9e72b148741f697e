import { describe, expect, test } from 'vitest'
import { assertModestJson, ExcessiveJsonError, parseForeignJson, readForeignJson } from './exports/internal-io.js'

const toBytes = (text: string) => new TextEncoder().encode(text)
const parse = (text: string) => parseForeignJson(toBytes(text))
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('a foreign document', () => {
  test.each([
    '{"a":[{"b":"c"}],"d":null}',
    '"[[[["',
    `{"text":"${'[{'.repeat(5_000)}"}`,
    `{"text":"\\"${'[{'.repeat(5_000)}\\\\"}`,
    `["\\\\", "\\\\\\"[", ${nested(31)}]`,
    nested(32),
    `[${Array.from({ length: 40_000 }, () => `{"address":"0x${'0'.repeat(40)}","storageKeys":[]}`).join()}]`,
    `[${Array.from({ length: 4_000 }, () => '{"jsonrpc":"2.0","id":1,"result":[]}').join()}]`,
  ])('%# of ordinary shape is parsed as JSON.parse does', (text) => expect(parse(text)).toEqual(JSON.parse(text)))

  test.each(['', '{', ']', '[[}', '"', '"\\', '"\\"', '[1,]', 'nothing'])('%j is a SyntaxError', (text) => {
    expect(() => parse(text)).toThrow(SyntaxError)
  })

  test.each([
    nested(33),
    '['.repeat(7_000_000),
    '{"a":'.repeat(33),
    `{"a":"\\\\",${'"b":['.repeat(32)}`,
    `[${'{},'.repeat(2_400_000)}{}]`,
    `[${'[],'.repeat(2_400_000)}[]]`,
    `[${'[[]],'.repeat(20_000)}[]]`,
    `{${Array.from({ length: 120_000 }, (_, n) => `"${n.toString(36)}":1`).join()}}`,
    `[${'0,'.repeat(100_000)}0]`,
  ])('%# that is nested, mostly brackets or mostly short members is not parsed', (text) => {
    expect(() => parse(text)).toThrow(ExcessiveJsonError)
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'ERR_JSON_EXCESSIVE', retryable: false }))
  })

  test('is checked in time that grows with its bytes, whatever stands in its strings', () => {
    const hostile = ['\\', '\\\\"', '"\\"', '\\"', '"']
    for (const part of hostile) expect(() => assertModestJson(toBytes(`"${part.repeat(2_000_000)}`))).not.toThrow()
  })
})

describe('the body of a response', () => {
  const response = (chunks: readonly string[], onCancel = () => {}) => {
    const left = chunks.map(toBytes)
    return new Response(
      new ReadableStream({
        pull(controller) {
          const chunk = left.shift()
          if (chunk === undefined) controller.close()
          else controller.enqueue(chunk)
        },
        cancel: onCancel,
      }),
    )
  }

  test('is parsed over the bounds of its chunks', async () => {
    expect(await readForeignJson(response(['{"a', '":"', '\u00fc"}']), 10)).toEqual({ a: '\u00fc' })
  })

  test('that is longer than allowed is canceled', async () => {
    let canceled = 0
    const endless = response(['[1', ',2', ',3', ',4', ']'], () => {
      canceled += 1
    })
    await expect(readForeignJson(endless, 5)).rejects.toThrow('the answer is larger than 5 bytes')
    expect(canceled).toBe(1)
  })

  test('without bytes is no JSON', async () => {
    await expect(readForeignJson(new Response(null), 5)).rejects.toThrow(SyntaxError)
  })
})
