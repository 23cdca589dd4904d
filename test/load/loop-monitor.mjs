import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Loaded before the service (`--import`): measures its event-loop delay between two messages of the benchmark. Costs
 * nothing until it is asked.
 */
const histogram = monitorEventLoopDelay({ resolution: 1 })
const ms = (nanoseconds) => nanoseconds / 1e6

process.on('message', (message) => {
  if (message === 'loop-delay:start') {
    histogram.reset()
    histogram.enable()
  } else if (message === 'loop-delay:stop') {
    histogram.disable()
    process.send({
      medianMs: ms(histogram.percentile(50)),
      p99Ms: ms(histogram.percentile(99)),
      longestMs: ms(histogram.max),
    })
  }
})
// Whether the benchmark listens is no reason to stay or to go.
process.channel?.unref()
