import { createReadStream, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'

/**
 * The Node peers: what a few lines of `node:http` do. `/file` pipes a read stream, as most services would; `/text`
 * sends the same bytes to everybody from memory.
 */
const [port, file, textFile] = process.argv.slice(2)
const text = readFileSync(textFile)
const { size } = statSync(file)

const server = createServer((request, response) => {
  if (request.url.startsWith('/text')) {
    response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': text.length })
    response.end(text)
    return
  }
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': size })
  createReadStream(file).pipe(response)
})
server.keepAliveTimeout = 75_000
server.listen(Number(port), '127.0.0.1')
