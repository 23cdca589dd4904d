const kibibyte = 1024
const mebibyte = kibibyte * kibibyte
const gibibyte = kibibyte * mebibyte

/** `412 MiB`, `1.4 GiB`, `880 KiB`: for people. */
export function bytesText(bytes: number): string {
  if (bytes >= 10 * gibibyte) return `${Math.round(bytes / gibibyte)} GiB`
  if (bytes >= gibibyte) return `${(bytes / gibibyte).toFixed(1)} GiB`
  if (bytes >= mebibyte) return `${Math.round(bytes / mebibyte)} MiB`
  if (bytes >= kibibyte) return `${Math.round(bytes / kibibyte)} KiB`
  return `${Math.max(0, Math.round(bytes))} bytes`
}

/** `412 of 1021 MiB`: both in the unit of the whole. */
export function partText(bytes: number, totalBytes: number): string {
  if (totalBytes >= gibibyte * 10) return `${(bytes / gibibyte).toFixed(1)} of ${bytesText(totalBytes)}`
  if (totalBytes >= mebibyte) {
    return `${Math.round(bytes / mebibyte)} of ${Math.round(totalBytes / mebibyte)} MiB`
  }
  return `${Math.round(bytes / kibibyte)} of ${Math.round(totalBytes / kibibyte)} KiB`
}

/** `1.4 s`, `38 s`, `4 min`, `2 h 5 min`: for people. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 100) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 100) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
