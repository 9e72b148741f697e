/** Writes a command and a test that send a delivery's bytes again. @module */
import { signatureHeader } from '@payment-integration/contract'
import { Copyable } from '../view/parts.js'
import { formatNumber } from '../view/text.js'
import { fixedHeaders, type Header } from './signature.js'

const maxCharacters = 4_000

export function Repeat({ delivery }: { delivery: RepeatedDelivery }) {
  return (
    <section id="repeat">
      <h2>Repeat version {delivery.version}, the newest that was sent</h2>
      {delivery.text.length > maxCharacters ? (
        <p class="dim">
          The snapshot has more than {formatNumber(maxCharacters)} characters: no command is made of it.
        </p>
      ) : (
        <>
          <details>
            <summary>Copy as curl: posts the same bytes with a new signature</summary>
            <p class="dim">
              Set WEBHOOK_SECRET in your shell first. The command holds no secret; it needs sh, openssl and curl.
            </p>
            <Copyable label="A command that posts this delivery" text={writeCurlCommand(delivery)} />
          </details>
          <details>
            <summary>Copy as test: a vitest file for your receiver</summary>
            <p class="dim">
              It needs @payment-integration/webhook, and a file receiver.js that makes your fetch handler.
            </p>
            <Copyable label="A test that posts this delivery" text={writeDeliveryTest(delivery)} />
          </details>
        </>
      )}
    </section>
  )
}

export interface RepeatedDelivery {
  readonly integrationAddress: string
  readonly txHash: string
  readonly version: number
  readonly text: string
  /** The notification URL. If null, or with a query or user, which may hold a key, the reader sets WEBHOOK_URL. */
  readonly url: string | null
}

/**
 * A command for sh that signs the bytes when it runs, and posts them. The secret comes from the environment, so that
 * the command can be shared.
 */
export function writeCurlCommand(delivery: RepeatedDelivery): string {
  const { integrationAddress, text, url } = delivery
  const isShown = url !== null && !/[?@#]/.test(url)
  const header = ([name, value]: Header) => `-H ${quoteSh(`${name}: ${value}`)} \\`
  return [
    '(',
    `: "\${WEBHOOK_SECRET:?Set it to the signing secret of ${integrationAddress}.}"`,
    ...(isShown ? [] : [`: "\${WEBHOOK_URL:?Set it to the URL of the receiver.}"`]),
    `body() { printf ${printfFormat(text)}; }`,
    't=$(date +%s)',
    `v1=$({ printf '%s.' "$t"; body; } | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -c 1-64)`,
    `body | curl -sS -i ${isShown ? quoteSh(url) : '"$WEBHOOK_URL"'} --data-binary @- \\`,
    ...fixedHeaders(integrationAddress).map((each) => `  ${header(each)}`),
    `  -H "${signatureHeader}: t=$t,v1=$v1"`,
    ')',
  ].join('\n')
}

export function writeDeliveryTest({ integrationAddress, txHash, version, text }: RepeatedDelivery): string {
  const headers = fixedHeaders(integrationAddress).map(([name, value]) => `      ${quoteJs(name)}: ${quoteJs(value)},`)
  return `import { signDelivery } from '@payment-integration/webhook/signing'
import { expect, test } from 'vitest'
// Yours: it makes the fetch handler of your receiver, for a secret and a clock.
import { createHandler } from './receiver.js'

test('the receiver takes version ${version} of ${txHash.slice(0, 10)}', async () => {
  const signingSecret = 'pi_whsec_for_this_test_alone'
  const timestamp = 1_700_000_000
  // The bytes as they were sent.
  const body = new TextEncoder().encode(
    ${quoteJs(text)},
  )
  const handle = createHandler({ signingSecret, clock: { now: () => timestamp * 1_000 } })
  const request = new Request('https://receiver.example/webhook', {
    method: 'POST',
    headers: {
${headers.join('\n')}
      ${quoteJs(signatureHeader)}: await signDelivery({ secret: signingSecret, timestamp, body }),
    },
    body,
  })
  expect((await handle(request)).ok).toBe(true)
})
`
}

const quoteSh = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Quotes text for sh as a printf format, in printable ASCII only. */
function printfFormat(text: string): string {
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`
  const format = [...Buffer.from(text)].map((byte) => {
    const character = String.fromCharCode(byte)
    if (byte < 0x20 || byte > 0x7e || character === "'") return octal(byte)
    return character === '%' || character === '\\' ? character + character : character
  })
  return `'${format.join('')}'`
}

function quoteJs(text: string): string {
  const escaped = text
    .replaceAll(/[\\']/g, '\\$&')
    .replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `'${escaped}'`
}
