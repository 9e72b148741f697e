/** Another program that takes the write lock of a SQLite file and keeps it until its input ends. @module */
import { loadSqlite } from '../../src/sqlite/sqlite-file.js'

const [path = ''] = process.argv.slice(2)
const Database = await loadSqlite()
const database = new Database(path)
database.exec('begin immediate')
process.stdout.write('held\n')
process.stdin.resume().once('end', () => {
  database.exec('rollback')
  database.close()
})
