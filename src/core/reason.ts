/**
 * Why a boot was decided as it was: a closed set, the same words in script, log, API and page.
 * `{name}` in a text is filled from the reason's facts.
 */
export const reasonTexts = {
  // who it is
  'host-matched-by-mac': 'host {host} has MAC {mac}',
  'host-matched-by-uuid': 'host {host} has UUID {uuid}',
  'host-matched-by-serial': 'host {host} has serial {serial}',
  'host-unknown': 'no host has this MAC, UUID or serial',
  'client-unidentified': 'the machine told neither MAC nor UUID nor serial',
  'group-matched': 'group {group} matches its labels',
  // what an admin wanted
  'unknown-ignored': 'unknown machines are ignored (unknown: ignore)',
  'unknown-gets-profile': 'unknown machines get profile {profile}',
  'unknown-never-installs': 'profile {profile} installs to disk, and unknown machines are never installed',
  'mode-hold': 'held by an admin: {why}',
  'mode-local': 'boots from its own disk: mode local of {origin}',
  'mode-not-set': 'no mode is set for it',
  'install-armed': 'install generation {generation} to {device} is armed by {by}',
  'install-done': 'boots from its own disk: install generation {generation} is done, said by {by} at {at}',
  'install-exhausted':
    'boots from its own disk: install generation {generation}, armed by {by} at {at}, is given up: {limit} and no report that it is installed - pilotlight install {host} arms it again',
  'install-disarmed':
    'boots from its own disk: install generation {generation} was disarmed by {by} at {at} - pilotlight install {host} arms it again',
  'install-device-missing': 'mode is install, but no install device is set',
  'kernel-argument-invalid': 'kernel argument {argument} cannot be used: {problem}',
  'address-of-another-machine':
    'its Ignition config goes to its own address alone (boot.tokens.bind), and {address} belongs to {mac}',
  'address-not-its-own':
    'its Ignition config goes to its own address alone (boot.tokens.bind), and it was seen with {own}, not with {address}',
  'address-of-another-boot':
    'its Ignition config goes to one address alone (boot.tokens.bind), and {other} is booting as this host since {since}: {address} waits until that boot has ended',
  'profile-missing': 'profile {profile} does not exist',
  'stream-not-set': 'no stream is set for it',
  'stream-not-configured': 'stream {stream} is not configured',
  // what there is
  'arch-unknown': 'the machine told no architecture that is known here',
  'arch-of-raspberry-pi': 'MAC {mac} is a Raspberry Pi, whose boot ROM calls itself x86: taken for {arch}',
  'arch-not-followed': 'stream {stream} does not follow {arch}',
  'arch-not-in-stream': 'the document of stream {stream} has nothing to boot for {arch}',
  'arch-unusable': 'the {arch} part of the document of {stream} cannot be used: {error}',
  'follows-current': 'follows stream {stream}: current is {release}',
  pinned: 'pinned to {release} by {origin}',
  'pin-expired': 'its pin to {release} has expired',
  'pin-being-fetched': 'pinned release {release} is being fetched',
  'pin-fetch-failed': 'pinned release {release} could not be fetched: {error}',
  'pin-unsigned': 'pinned release {release} waits for a good signature: {error}',
  'pin-held': 'pinned release {release} is not fetched: {decides}',
  'pin-unresolvable':
    'pinned release {release} of {stream} is in no document known here yet, and is looked for in streams.{stream}.source.releaseIndex if that is set - pilotlight import takes a document that names it',
  'follows-previous': 'boots {release} of {stream}, the latest verified one: the current one is not whole',
  'current-damaged':
    'the current bootimage of {stream}, {release}, lost a file or failed a check and is fetched again: {progress}',
  'current-being-fetched': 'bootimage {release} of {stream} is being fetched',
  'current-fetch-failed': 'bootimage {release} of {stream} could not be fetched: {error}',
  'current-unsigned': 'the bootimage of {stream}, {release}, waits for a good signature: {error}',
  'current-held': 'bootimage {release} of {stream} is not fetched: {decides}',
  'change-pending': 'a change of {stream} to {release} ({change}) is not followed: {decides}',
  'stream-never-read': 'the metadata of {stream} could not be read yet: {error}',
  'legacy-installer-not-live': '{release} can only install to disk, not run live',
  'install-image-missing': '{release} has no disk image for {firmware} firmware',
  'extra-initrd-missing': 'extra initrd {name} is not in the store with the digest {sha256}',
} as const

export type ReasonCode = keyof typeof reasonTexts

export interface Reason {
  readonly code: ReasonCode
  readonly facts: Readonly<Record<string, string>>
}

export function reason(code: ReasonCode, facts: Record<string, string> = {}): Reason {
  return { code, facts }
}

/** Every text cut at its names: words at even places, names at odd ones. Cut once, because every boot tells several. */
const sentences = new Map(
  Object.entries(reasonTexts).map(([code, text]) => [code, text.split(/\{(\w+)\}/)] as const),
)

/** The sentence for people. Facts come from our own records or from parsed types, never raw from a client. */
export function reasonText({ code, facts }: Reason): string {
  let text = ''
  let isName = false
  for (const part of sentences.get(code) ?? [code]) {
    text += isName ? (facts[part] ?? '?') : part
    isName = !isName
  }
  return text
}
