const { EntitySchema } = require('typeorm')

class Payment {
  constructor(fields) {
    Object.assign(this, fields)
  }
}
class Outbox {
  constructor(fields) {
    Object.assign(this, fields)
  }
}
const text = { type: 'text' }
const columns = { sender: text, receiver: text, token: text, gross: text, net: text, memo: text, integration: text }
const id = { type: 'text', primary: true }

exports.Payment = Payment
exports.Outbox = Outbox
exports.PaymentSchema = new EntitySchema({
  name: 'Payment',
  target: Payment,
  columns: { id, blockNumber: { type: 'int' }, time: { type: 'bigint' }, ...columns },
})
exports.OutboxSchema = new EntitySchema({ name: 'Outbox', target: Outbox, columns: { id, body: text } })
