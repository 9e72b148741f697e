/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Explains the signature of a delivery, field by field, without any secret. Source: docs/interface.md 6. @module */
import { signatureHeader } from '@payment-integration/contract'
import { Badge, Cell, Pre, Table } from '../view/parts.js'
import { grouped, shownText, spanOf } from '../view/text.js'
import { computedCodes } from './computed-codes.js'
import { timestampOf } from './sent-headers.js'
import type { Snapshot } from './timeline.js'

/** Seconds that a receiver accepts between `t` and its clock. */
const toleranceSeconds = 300
/** Characters of the signed bytes that a page shows. */
const mostShown = 4_000
/** Hex digits of an example code that a page shows. */
const codeDigits = 16

/** The explanation for the last attempt of a version. */
export function Signature({ snapshot, startedAt, now }: { snapshot: Snapshot; startedAt: number; now: number }) {
  const t = timestampOf(startedAt)
  const signed = shownText(`${t}.${snapshot.text}`, mostShown)
  const isExact = signed === `${t}.${snapshot.text}`
  return (
    <section id="signature">
      <h2>Signature of version {snapshot.version}</h2>
      <Pre label="The signature header" text={`${signatureHeader}: t=${t},v1=(64 hex digits)`} />
      <dl class="facts wide">
        <div>
          <dt>t</dt>
          <dd>{t}: unix seconds of the last attempt. Each attempt gets its own t.</dd>
        </div>
        <div>
          <dt>v1</dt>
          <dd>
            HMAC-SHA256 of the signed bytes with the webhook secret, in hex. It is not stored, and this page opens no
            secret.
          </dd>
        </div>
        <div>
          <dt>Age</dt>
          <dd>{ageText(Math.floor(now / 1_000) - t)}</dd>
        </div>
        <div>
          <dt>Wrong clock</dt>
          <dd>
            A receiver whose clock is {toleranceSeconds + 1} s fast sees an age of {toleranceSeconds + 1} s on arrival,
            against {toleranceSeconds} s. It rejects the delivery as stale, though its v1 is right. Synchronise the
            clock (NTP).
          </dd>
        </div>
      </dl>
      <h3>
        Signed bytes: {grouped(String(t).length)} of t, a dot, {grouped(snapshot.bytes)} of the body
      </h3>
      <Pre label="The signed bytes" text={signed} wrap />
      {isExact ? null : <p class="dim">Invisible characters are shown as escapes, and long text is cut.</p>}
      <Codes timestamp={t} snapshot={snapshot} />
    </section>
  )
}

function ageText(age: number): string {
  const span = `${grouped(age)} s now${age < 60 ? '' : ` (${spanOf(age * 1_000)})`}, against ${toleranceSeconds} s: `
  return Math.abs(age) <= toleranceSeconds
    ? `${span}a receiver still accepts this t.`
    : `${span}a copy with this t is rejected as stale. For queued work, compare with the time of receipt.`
}

/** Codes that receivers compute over these bytes. */
function Codes({ timestamp, snapshot }: { timestamp: number; snapshot: Snapshot }) {
  const titles = ['Over', 'v1 with an example secret', 'Result', 'What to do']
  return (
    <>
      <h3>What a receiver computes</h3>
      <p class="dim">With a random secret of this page: only whether the codes are equal matters.</p>
      <Table label="Codes that receivers compute" columns={titles.map((title) => ({ title }))}>
        {computedCodes(timestamp, snapshot.text).map(({ way, code, isRight, remedy }) => (
          <tr>
            <Cell of="Over">{way}</Cell>
            <Cell of="v1 with an example secret">
              <code>{code.slice(0, codeDigits)}…</code>
            </Cell>
            <Cell of="Result">
              <Badge word={isRight ? 'accepted' : 'rejected, 401'} tone={isRight ? 'good' : 'bad'} />
            </Cell>
            <Cell of="What to do">{remedy ?? <span class="dim">nothing</span>}</Cell>
          </tr>
        ))}
      </Table>
    </>
  )
}
