/** In the reverse order of their start; one that fails does not keep the others running. */
export async function stopAll(stops: readonly (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = []
  for (const stop of [...stops].reverse()) {
    try {
      await stop()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
