// Holds the only right to write of a database until its standard input ends. Says "held" when it has it.
// Usage: node hold-database.mjs FILE
import Database from 'libsql'

const database = new Database(process.argv[2])
database.exec('BEGIN EXCLUSIVE')
process.stdout.write('held\n')
process.stdin.on('end', () => {
  database.exec('ROLLBACK')
  database.close()
})
process.stdin.resume()
