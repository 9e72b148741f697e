/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The section of a payment that repeats a delivery: as a command and as a test. @module */
import { Copyable } from '../view/parts.js'
import { grouped } from '../view/text.js'
import { curlCommand, deliveryTest, type RepeatedDelivery } from './commands.js'

/** Longest snapshot of which the page makes commands, in characters. */
const mostCharacters = 4_000

/** The section. */
export function Repeat({ delivery }: { delivery: RepeatedDelivery }) {
  return (
    <section id="repeat">
      <h2>Repeat version {delivery.version}</h2>
      {delivery.text.length > mostCharacters ? (
        <p class="dim">The snapshot has more than {grouped(mostCharacters)} characters: no command is made of it.</p>
      ) : (
        <>
          <details>
            <summary>Copy as curl: posts the same bytes with a new signature</summary>
            <p class="dim">
              Set WEBHOOK_SECRET in your shell first. The command holds no secret; it needs sh, openssl and curl.
            </p>
            <Copyable label="A command that posts this delivery" text={curlCommand(delivery)} />
          </details>
          <details>
            <summary>Copy as test: a vitest file for your receiver</summary>
            <p class="dim">
              It needs @payment-integration/webhook, and a file receiver.js that makes your fetch handler.
            </p>
            <Copyable label="A test that posts this delivery" text={deliveryTest(delivery)} />
          </details>
        </>
      )}
    </section>
  )
}
