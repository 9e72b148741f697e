export type { PostgresStoreOptions } from '../postgres/create-postgres-store.js'
export { createPostgresStore } from '../postgres/create-postgres-store.js'
export { type JoinOptions, joinPostgresTransaction } from '../postgres/join-transaction.js'
