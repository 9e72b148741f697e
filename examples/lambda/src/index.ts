/**
 * The entry that AWS Lambda is told: `index.handler`. What is made here lives as long as the instance of the function.
 * @module
 */
import { Pool } from 'pg'
import { createHandler } from './create-handler.js'

const { DATABASE_URL, WEBHOOK_SIGNING_SECRETS = '' } = process.env

// One connection for each instance: an instance handles one request at a time.
export const pool = new Pool({ connectionString: DATABASE_URL, max: 1 })
// An idle connection that breaks is replaced by the next use; unheard, its error would end the instance.
pool.on('error', (error) => console.error(error.message))

export const handler = createHandler({ pool, secrets: WEBHOOK_SIGNING_SECRETS.split(',') })
