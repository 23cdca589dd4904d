import { isDeepStrictEqual } from 'node:util'
import { displayUrl } from '../../upstream/display-url.ts'

type Spec = Readonly<Record<string, unknown>>

/** A record as it was sent, without what may be secret in it: inline configs, credentials in URLs. */
export function shownSpec(spec: Spec): Record<string, unknown> {
  const { ignition } = spec
  if (typeof ignition !== 'object' || ignition === null) return { ...spec }
  const { inline, url, ...rest } = ignition as { inline?: unknown; url?: unknown }
  return {
    ...spec,
    ignition: {
      ...rest,
      ...(typeof inline === 'string' ? { inline: `(not shown, ${inline.length} characters)` } : {}),
      ...(typeof url === 'string' ? { url: displayUrl(url) } : {}),
    },
  }
}

/**
 * What was shown and comes back unchanged means what is kept: who changes one field of a record that he was shown does
 * not lose the secrets that he was not.
 */
export function withSecretsKept(sent: Spec, before: Spec | undefined): Spec {
  const { ignition } = sent
  if (before === undefined || ignition === undefined) return sent
  return isDeepStrictEqual(ignition, shownSpec(before).ignition)
    ? { ...sent, ignition: before.ignition }
    : sent
}
