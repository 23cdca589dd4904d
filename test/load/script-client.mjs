import autocannon from 'autocannon'

/**
 * Asks for small texts over keep-alive connections, each connection going through all paths in turn. Prints one line
 * of JSON.
 *
 * script-client.mjs ORIGIN CONNECTIONS SECONDS PATH…
 */
const [url, connections, seconds, ...paths] = process.argv.slice(2)
const result = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(seconds),
  requests: paths.map((path) => ({ method: 'GET', path })),
})
console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    failed: result.errors + result.non2xx,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }),
)
