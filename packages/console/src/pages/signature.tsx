/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Explains the signature of a delivery, field by field, without any secret. Source: docs/interface.md 6. @module */
import { signatureHeader } from '@payment-integration/contract'
import { Pre } from '../view/parts.js'
import { grouped, spanOf } from '../view/text.js'
import type { Snapshot } from './timeline.js'

/** Seconds that a receiver accepts between `t` and its clock. */
const toleranceSeconds = 300

/** The explanation for the last attempt of a version. */
export function Signature({ snapshot, startedAt, now }: { snapshot: Snapshot; startedAt: number; now: number }) {
  const t = Math.floor(startedAt / 1_000)
  const age = Math.floor(now / 1_000) - t
  const again = reformatted(snapshot)
  return (
    <section>
      <h2>Signature of version {snapshot.version}</h2>
      <Pre label="The signature header" text={`${signatureHeader}: t=${t},v1=(64 hex digits)`} />
      <dl class="facts wide">
        <div>
          <dt>t</dt>
          <dd>
            {t}: unix seconds of the attempt, now {spanOf(age * 1_000)} old.{' '}
            {Math.abs(age) <= toleranceSeconds
              ? 'A receiver still accepts it.'
              : `A receiver accepts up to ${toleranceSeconds} s: a copy sent now is rejected as stale. Each attempt gets its own t.`}
          </dd>
        </div>
        <div>
          <dt>v1</dt>
          <dd>HMAC-SHA256 of the signed bytes with the webhook secret, in hex. The secret is never shown here.</dd>
        </div>
        <div>
          <dt>Signed bytes</dt>
          <dd>
            <code>{`${t}.`}</code> and the body: {grouped(String(t).length + 1)} + {grouped(snapshot.bytes)} bytes.
          </dd>
        </div>
        <div>
          <dt>A parsed body</dt>
          <dd>
            {again === null
              ? 'The body is no JSON.'
              : again.isEqual
                ? 'JSON.stringify of the parsed body gives the same bytes here; indented or in another order it does not. Verify the raw bytes.'
                : `JSON.stringify of the parsed body gives ${grouped(again.bytes)} other bytes: the signature fails. Verify the raw bytes.`}{' '}
            {again === null ? '' : `Indented by two it has ${grouped(again.indented)} bytes.`}
          </dd>
        </div>
        <div>
          <dt>The other secret</dt>
          <dd>The API secret computes another v1 over the same bytes: every delivery is then rejected with 401.</dd>
        </div>
        <div>
          <dt>A wrong clock</dt>
          <dd>
            A receiver whose clock is more than {toleranceSeconds} s from t rejects a valid signature as stale. Its v1
            is right, so the age in its error names the clock.
          </dd>
        </div>
      </dl>
    </section>
  )
}

function reformatted({ text }: Snapshot) {
  try {
    const value: unknown = JSON.parse(text)
    const compact = JSON.stringify(value)
    return {
      isEqual: compact === text,
      bytes: Buffer.byteLength(compact),
      indented: Buffer.byteLength(JSON.stringify(value, null, 2)),
    }
  } catch {
    return null
  }
}
