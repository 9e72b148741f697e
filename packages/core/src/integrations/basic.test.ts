import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { parseAddress } from '../payments/read-api.js'
import { issueApiSecret } from '../secrets/keys.js'
import { parseBasic } from './authenticate.js'

const address = `0x${'ab'.repeat(20)}`
const encode = (text: string) => Buffer.from(text, 'utf8').toString('base64')
const nobody = { isWellFormed: false, address: `0x${'x'.repeat(40)}`, secret: 'x'.repeat(50) }
const good = encode(`${address}:secret`)

describe('parseBasic', () => {
  it.each([
    ['the plain form', `Basic ${good}`],
    ['a scheme in any case', `bAsIc ${good}`],
    ['several spaces', `Basic   ${good}`],
    ['an address in upper case', `Basic ${encode(`0x${'AB'.repeat(20)}:secret`)}`],
  ])('accepts %s', (_what, header) =>
    expect(parseBasic(header)).toEqual({ isWellFormed: true, address, secret: 'secret' }),
  )

  it('splits at the first colon, so a secret may hold colons', () => {
    expect(parseBasic(`Basic ${encode(`${address}:a:b:`)}`)).toEqual({ isWellFormed: true, address, secret: 'a:b:' })
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
    ['a prefix 0X', `Basic ${encode(`0X${'ab'.repeat(20)}:secret`)}`],
    ['an address in full-width digits', `Basic ${encode(`0x${'\uff11'.repeat(40)}:secret`)}`],
    ['a space before the address', `Basic ${encode(` ${address}:secret`)}`],
    ['a byte order mark', `Basic ${encode(`\ufeff${address}:secret`)}`],
    [
      'an overlong colon',
      `Basic ${Buffer.concat([Buffer.from(address), Buffer.from([0xc0, 0xba, 0x61])]).toString('base64')}`,
    ],
    [
      'bits after the end',
      `Basic ${encode(`${address}:abcd`).replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`)}`,
    ],
    ['padding in the middle', `Basic ${encode(`${address}:a`)}${encode('b')}`],
    ['a short address', `Basic ${encode('0xab:secret')}`],
    ['a NUL in the secret', `Basic ${encode(`${address}:a\u0000b`)}`],
    ['a line feed in the secret', `Basic ${encode(`${address}:a\nb`)}`],
    ['an overlong value', `Basic ${encode(`${address}:${'x'.repeat(600)}`)}`],
  ])('rejects %s', (_what, header) => expect(parseBasic(header)).toEqual(nobody))

  it('puts somebody in place of a malformed header under whose address nothing can be stored, as long as a real one', () => {
    expect(() => parseAddress(nobody.address)).toThrow()
    expect(nobody.address).toHaveLength(address.length)
    expect(nobody.secret).toHaveLength(issueApiSecret(seededRandom(1)).length)
  })
})
