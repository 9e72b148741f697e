/** Creates the tables in the database of DATABASE_URL. Running it again changes nothing. */
import { readFileSync } from 'node:fs'
import { Client } from 'pg'

async function migrate() {
  const { DATABASE_URL } = process.env
  const [, , file] = process.argv
  if (!DATABASE_URL || !file) throw new Error('Set DATABASE_URL, and pass the file with the SQL.')
  const client = new Client({ connectionString: DATABASE_URL })
  await client.connect()
  try {
    await client.query(readFileSync(file, 'utf8'))
  } finally {
    await client.end()
  }
}

migrate().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
