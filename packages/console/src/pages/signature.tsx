/** The headers and the signature of an attempt, explained without any secret. Source: docs/interface.md 6. @module */
import { createHmac, randomBytes } from 'node:crypto'
import { integrationHeader, notificationUserAgent, signatureHeader } from '@payment-integration/contract'
import { jsonContentType } from '@payment-integration/contract/internal'
import { Badge, Dim, type FactRow, Facts, Pre, Table } from '../view/parts.js'
import { formatNumber, formatSpan, showText } from '../view/text.js'
import type { Snapshot } from './snapshots.js'

const toleranceSeconds = 300
const maxShown = 4_000
const shownDigits = 16

export function Signature({ snapshot, startedAt, now }: { snapshot: Snapshot; startedAt: number; now: number }) {
  const t = findTimestamp(startedAt)
  const signed = showText(`${t}.${snapshot.text}`, maxShown)
  const isExact = signed === `${t}.${snapshot.text}`
  return (
    <details id="signature">
      <summary>How version {snapshot.version} is signed, and what a receiver computes</summary>
      <Pre label="The signature header" text={`${signatureHeader}: t=${t},v1=(64 hex digits)`} />
      <Facts kind="wide" rows={explainSignature(t, Math.floor(now / 1_000) - t)} />
      <h3>
        Signed bytes: {formatNumber(String(t).length)} of t, a dot, {formatNumber(snapshot.bytes)} of the body
      </h3>
      <Pre label="The signed bytes" text={signed} wrap />
      {isExact ? null : <p class="dim">Invisible characters are shown as escapes, and long text is cut.</p>}
      <h3>What a receiver computes</h3>
      <p class="dim">With a random secret of this page: only whether the codes are equal matters.</p>
      <Table
        label="Codes that receivers compute"
        rows={computeCodes(t, snapshot.text)}
        columns={[
          ['Over', ({ way }) => way],
          ['v1 with an example secret', ({ code }) => <code>{code.slice(0, shownDigits)}…</code>],
          [
            'Result',
            ({ isRight }) =>
              isRight ? <Badge word="accepted" tone="good" /> : <Badge word="rejected, 401" tone="bad" />,
          ],
          ['What to do', ({ remedy }) => remedy ?? <Dim>nothing</Dim>],
        ]}
      />
    </details>
  )
}

const explainSignature = (t: number, age: number): readonly FactRow[] => [
  ['t', `${t}: unix seconds of the last attempt. Each attempt gets its own t.`],
  [
    'v1',
    'HMAC-SHA256 of the signed bytes with the webhook secret, in hex. It is not stored, and this page opens no secret.',
  ],
  ['Age', ageText(age)],
  [
    'Wrong clock',
    `A receiver whose clock is ${toleranceSeconds + 1} s fast sees an age of ${toleranceSeconds + 1} s on arrival, against ${toleranceSeconds} s. It rejects the delivery as stale, though its v1 is right. Synchronize the clock (NTP).`,
  ],
]

function ageText(age: number): string {
  const span = `${formatNumber(age)} s now${age < 60 ? '' : ` (${formatSpan(age * 1_000)})`}, against ${toleranceSeconds} s: `
  return Math.abs(age) <= toleranceSeconds
    ? `${span}a receiver still accepts this t.`
    : `${span}a copy with this t is rejected as stale. For queued work, compare with the time of receipt.`
}

/** Random example secrets, used only in explanations. */
const exampleSecret = randomBytes(32)
const otherSecret = randomBytes(32)

const rawBytes = 'Verify the raw bytes before any JSON parser.'

/** The code (an HMAC in hex) that each way to verify a body computes. The right way comes first, without a remedy. */
export function computeCodes(timestamp: number, body: string) {
  const formatCode = (text: string, secret: Buffer = exampleSecret) =>
    createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex')
  const right = formatCode(body)
  const row = (way: string, code: string, remedy: string) => {
    const isRight = code === right
    return { way, code, isRight, remedy: isRight ? null : remedy }
  }
  return [
    row('The raw bytes, the signing secret', right, ''),
    ...rewriteBody(body).map(([way, text]) => row(way, formatCode(text), rawBytes)),
    row('Line end added to the body', formatCode(`${body}\n`), 'Pass the bytes unchanged: an editor or echo adds one.'),
    row(
      'Another secret, such as the API secret',
      formatCode(body, otherSecret),
      'Compare with the webhook secret of this integration and environment; after a rotation use the new one.',
    ),
  ]
}

function rewriteBody(body: string): [string, string][] {
  try {
    const value: unknown = JSON.parse(body)
    return [
      ['JSON.stringify(JSON.parse(body))', JSON.stringify(value)],
      ['JSON.stringify(JSON.parse(body), null, 2)', JSON.stringify(value, null, 2)],
    ]
  } catch {
    return []
  }
}

export type Header = readonly [name: string, value: string]

export const fixedHeaders = (integrationAddress: string): readonly Header[] => [
  ['Content-Type', jsonContentType],
  ['User-Agent', notificationUserAgent],
  [integrationHeader, integrationAddress],
]

const findTimestamp = (startedAt: number): number => Math.floor(startedAt / 1_000)

/**
 * The headers of an attempt as lines. The signature `v1` is omitted: no attempt stores it, and the console opens no
 * secret to compute it.
 */
export function sentHeaders(integrationAddress: string, startedAt: number): string {
  const signature: Header = [signatureHeader, `t=${findTimestamp(startedAt)},v1=(64 hex digits)`]
  return [...fixedHeaders(integrationAddress), signature].map(([name, value]) => `${name}: ${value}`).join('\n')
}

/** Failure reasons of attempts that sent nothing. */
const unsent: ReadonlySet<string | null> = new Set(['rejected_address', 'secret_unreadable'])

export const wasSent = ({ reason }: { readonly reason: string | null }): boolean => !unsent.has(reason)
