// Holds a database as a shell of an admin would, until its input ends.
// Usage: node lock-holder.mjs DATABASE
import Database from 'libsql'

const [, , file] = process.argv
const database = new Database(file)
database.exec('PRAGMA busy_timeout=5000')
database.exec('BEGIN EXCLUSIVE')
process.stdout.write('locked\n')
process.stdin.resume()
process.stdin.once('end', () => {
  database.exec('ROLLBACK')
  process.exit(0)
})
