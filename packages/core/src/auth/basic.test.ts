import { describe, expect, it } from 'vitest'
import { parseBasic } from './basic.js'

const address = `0x${'ab'.repeat(20)}`
const encode = (text: string) => Buffer.from(text, 'utf8').toString('base64')
const good = encode(`${address}:secret`)

describe('parseBasic', () => {
  it.each([
    ['the plain form', `Basic ${good}`],
    ['a scheme in any case', `bAsIc ${good}`],
    ['several spaces', `Basic   ${good}`],
    ['an address in upper case', `Basic ${encode(`0x${'AB'.repeat(20)}:secret`)}`],
  ])('accepts %s', (_what, header) => expect(parseBasic(header)).toEqual({ address, secret: 'secret' }))

  it('splits at the first colon, so a secret may hold colons', () => {
    expect(parseBasic(`Basic ${encode(`${address}:a:b:`)}`)).toEqual({ address, secret: 'a:b:' })
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty value', ''],
    ['the raw address:secret form', `${address}:secret`],
    ['the raw form under the scheme', `Basic ${address}:secret`],
    ['another scheme', `Bearer ${good}`],
    ['no space', `Basic${good}`],
    ['a tab', `Basic\t${good}`],
    ['a trailing space', `Basic ${good} `],
    ['two credentials', `Basic ${good}, Basic ${good}`],
    ['rubbish after the base64', `Basic ${good}!!`],
    [
      'base64url characters',
      `Basic ${encode(`${address}:\u00ff\u00ff\u00ff`).replaceAll('/', '_').replaceAll('+', '-')}-_`,
    ],
    ['missing padding', `Basic ${encode(`${address}:abc`).replace(/=+$/, '')}`],
    ['no colon', `Basic ${encode(address)}`],
    ['an empty secret', `Basic ${encode(`${address}:`)}`],
    ['a short address', `Basic ${encode('0xab:secret')}`],
    ['a NUL in the secret', `Basic ${encode(`${address}:a\u0000b`)}`],
    ['a line feed in the secret', `Basic ${encode(`${address}:a\nb`)}`],
    ['an overlong value', `Basic ${encode(`${address}:${'x'.repeat(600)}`)}`],
  ])('refuses %s', (_what, header) => expect(parseBasic(header)).toBeNull())
})
