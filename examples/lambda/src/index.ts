/**
 * The entry point for AWS Lambda: `index.handler`. Its connection lives as long as the instance of the function.
 * @module
 */
import { Pool } from 'pg'
import { createHandler } from './create-handler.js'

const { DATABASE_URL, WEBHOOK_SIGNING_SECRETS = '' } = process.env

// One connection per instance: an instance handles one request at a time.
export const pool = new Pool({ connectionString: DATABASE_URL, max: 1 })
// The next use replaces a broken idle connection. Without a listener its error would end the instance.
pool.on('error', (error) => console.error(error.message))

export const handler = createHandler({ pool, secrets: WEBHOOK_SIGNING_SECRETS.split(',') })
