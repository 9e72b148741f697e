/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The deliveries of one payment, each with its replay. @module */
import type { DeliveryView } from '@payment-integration/core/ports'
import { ActForm } from '../view/act-form.js'
import { ForRole } from '../view/for-role.js'
import { Cell, Status, Table, When } from '../view/parts.js'
import { Answer } from '../view/rows.js'

const titles = ['Version', 'Status', 'Created', 'Attempts', 'Last answer', 'Next attempt', 'Act']

/** The table; nothing without deliveries. */
export function PaymentDeliveries({ deliveries }: { deliveries: readonly DeliveryView[] }) {
  if (deliveries.length === 0) return null
  return (
    <>
      <h2>Deliveries</h2>
      <Table label="Deliveries of this payment" columns={titles.map((title) => ({ title }))}>
        {deliveries.map((delivery) => (
          <DeliveryActs delivery={delivery} />
        ))}
      </Table>
    </>
  )
}

function DeliveryActs({ delivery }: { delivery: DeliveryView }) {
  const { deliveryId, version, status, createdAt, attempts, nextAttemptAt } = delivery
  const last = attempts.at(-1)
  return (
    <tr id={`d${deliveryId}`}>
      <Cell of="Version">{version}</Cell>
      <Cell of="Status">
        <Status status={status} />
      </Cell>
      <Cell of="Created">
        <When at={createdAt} withDate />
      </Cell>
      <Cell of="Attempts">{attempts.length}</Cell>
      <Cell of="Last answer">{last === undefined ? <span class="dim">not sent yet</span> : <Answer {...last} />}</Cell>
      <Cell of="Next attempt">
        {nextAttemptAt === null ? <span class="dim">none</span> : <When at={nextAttemptAt} />}
      </Cell>
      <Cell of="Act">
        <ForRole needs="operator" otherwise={<span class="dim">needs the role operator</span>}>
          <ActForm act="replay" label={`Replay version ${version}`} needs="operator" fields={{ id: deliveryId }} />
        </ForRole>
      </Cell>
    </tr>
  )
}
