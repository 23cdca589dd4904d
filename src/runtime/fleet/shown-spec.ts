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
