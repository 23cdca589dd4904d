import type { DecisionKind } from './boot-decision.ts'
import type { ReasonCode } from './reason.ts'

/**
 * For each kind of decision the reasons that can decide it, that is, stand first among its reasons (`decideBoot`).
 * `chainload` is none of its decisions. A property test holds this table to what is really decided.
 */
export const decidingReasons: Readonly<Record<DecisionKind, readonly ReasonCode[]>> = {
  ignore: ['unknown-ignored'],
  local: ['mode-local', 'install-done', 'install-exhausted', 'install-disarmed'],
  chainload: [],
  live: ['follows-current', 'follows-previous', 'pinned'],
  install: ['follows-current', 'follows-previous', 'pinned'],
  wait: [
    'pin-being-fetched',
    'pin-fetch-failed',
    'pin-unsigned',
    'pin-held',
    'pin-unresolvable',
    'current-being-fetched',
    'current-fetch-failed',
    'current-unsigned',
    'current-held',
    'current-damaged',
    'change-pending',
    'stream-never-read',
    'arch-unusable',
    'extra-initrd-missing',
  ],
  hold: [
    'mode-hold',
    'mode-not-set',
    'profile-missing',
    'unknown-never-installs',
    'install-device-missing',
    'install-image-missing',
    'kernel-argument-invalid',
    'stream-not-set',
    'stream-not-configured',
    'arch-unknown',
    'arch-not-followed',
    'arch-not-in-stream',
    'legacy-installer-not-live',
    // Not by `decideBoot`: by who else asks as the same machine (`boot/address-guard.ts`).
    'address-of-another-machine',
    'address-not-its-own',
    'address-of-another-boot',
  ],
}
