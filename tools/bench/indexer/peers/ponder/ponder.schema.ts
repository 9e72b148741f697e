import { onchainTable } from 'ponder'

export const payments = onchainTable('payments', (t) => ({
  id: t.text().primaryKey(),
  blockNumber: t.bigint().notNull(),
  time: t.bigint().notNull(),
  sender: t.text().notNull(),
  receiver: t.text().notNull(),
  token: t.text().notNull(),
  gross: t.bigint().notNull(),
  net: t.bigint().notNull(),
  memo: t.text().notNull(),
  integration: t.text().notNull(),
}))

export const outbox = onchainTable('outbox', (t) => ({ id: t.text().primaryKey(), body: t.text().notNull() }))
