import { fetchFile } from './tftp-transfer.mjs'

/**
 * Machines that fetch one file by TFTP, so many at once, again and again until the time is over. Prints one line of
 * JSON.
 *
 * tftp-client.mjs '{"address":"198.18.0.1","name":"snponly.efi","sha256":"…","atOnce":50,"windowSize":1,"seconds":2}'
 */
const { address, name, sha256, atOnce, windowSize, seconds } = JSON.parse(process.argv[2])
let requests = 0
let bytes = 0
let failed = 0
let repeats = 0
const startedAt = performance.now()
const isOver = () => performance.now() - startedAt > seconds * 1000

async function machine() {
  while (!isOver()) {
    const fetched = await fetchFile({ address, name, windowSize })
    requests += 1
    bytes += fetched.bytes
    repeats += fetched.repeats
    if (fetched.sha256 !== sha256) failed += 1
  }
}

await Promise.all(Array.from({ length: atOnce }, machine))
console.log(
  JSON.stringify({ requests, bytes, seconds: (performance.now() - startedAt) / 1000, failed, repeats }),
)
