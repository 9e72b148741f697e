/** Creates the tables in the database of DATABASE_URL. Running it again changes nothing. */
import { readFileSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'

const { DATABASE_URL } = process.env
const [, , file] = process.argv
if (!DATABASE_URL || !file) throw new Error('Set DATABASE_URL, and pass the file with the SQL.')
const database = new DatabaseSync(DATABASE_URL.replace(/^sqlite:/, ''))
database.exec(readFileSync(file, 'utf8'))
database.close()
