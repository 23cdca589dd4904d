// Loaded before the service (`--import`): its clock goes faster than time, so that minutes of silence take seconds.
const factor = Number(process.env.CLOCK_FACTOR)
const now = Date.now
const startedAt = now()
Date.now = () => Math.round(startedAt + (now() - startedAt) * factor)
