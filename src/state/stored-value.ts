import { type Arch, architectures } from '../core/arch.ts'
import type { Artifact, ArtifactRole } from '../core/artifact.ts'
import type { Bootimage, BootimageId } from '../core/bootimage.ts'
import type { BootimageFailure, PendingChange } from '../core/bootimage-state.ts'
import { type ChangeClass, changeClasses } from '../core/change.ts'
import { parseSha256, type Sha256 } from '../core/digest.ts'

/**
 * Reading back what was stored as JSON. We wrote it ourselves, but perhaps with another version, and a disk may
 * have had its say since: nothing reaches a type without having been looked at. Each reader throws a TypeError that
 * names the field.
 */

type Fields = Readonly<Record<string, unknown>>

export function readBootimage(json: string): Bootimage {
  const fields = object(parse(json, 'bootimage'), 'bootimage')
  const rootfs = fields.rootfs
  return {
    id: text(fields, 'id') as BootimageId,
    stream: text(fields, 'stream'),
    arch: oneOf(fields, 'arch', architectures),
    release: text(fields, 'release'),
    kind: oneOf(fields, 'kind', ['live', 'legacy-installer'] as const),
    setDigest: digest(fields, 'setDigest'),
    kernel: artifact(fields.kernel, 'kernel'),
    initramfs: artifact(fields.initramfs, 'initramfs'),
    ...(rootfs === undefined ? {} : { rootfs: artifact(rootfs, 'rootfs') }),
    disks: list(fields.disks, 'disks').map((disk) => artifact(disk, 'disks')),
  }
}

export function readFailure(json: string): BootimageFailure {
  const fields = object(parse(json, 'failure'), 'failure')
  return { code: text(fields, 'code'), message: text(fields, 'message'), at: number(fields, 'at') }
}

export function readPending(json: string): PendingChange {
  const fields = object(parse(json, 'pending'), 'pending')
  const { bootimage, release } = fields
  return {
    change: readChangeClass(fields.change),
    ...(bootimage === undefined ? {} : { bootimage: text(fields, 'bootimage') as BootimageId }),
    ...(release === undefined ? {} : { release: text(fields, 'release') }),
    seen: number(fields, 'seen'),
    firstSeenAt: number(fields, 'firstSeenAt'),
    policy: oneOf(fields, 'policy', ['confirm', 'hold'] as const),
  }
}

export function readBootimageIds(json: string): readonly BootimageId[] {
  return list(parse(json, 'previous'), 'previous').map((id) => {
    if (typeof id !== 'string') throw new TypeError('previous does not hold ids')
    return id as BootimageId
  })
}

export function readObject(json: unknown, name: string): Fields {
  return object(parse(readText(json, name), name), name)
}

export function readList(json: unknown, name: string): readonly unknown[] {
  return list(parse(readText(json, name), name), name)
}

export function readChangeClass(value: unknown): ChangeClass {
  return oneOf({ change: value }, 'change', changeClasses)
}

export function readArch(value: unknown): Arch {
  return oneOf({ arch: value }, 'arch', architectures)
}

export function readSha256(value: unknown, name: string): Sha256 {
  return digest({ [name]: value }, name)
}

/** A column of text; SQL as SQLite speaks it does not insist on it. */
export function readText(value: unknown, name: string): string {
  return text({ [name]: value }, name)
}

/** Text that people wrote; it may be empty. */
export function readProse(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new TypeError(`${name} is not text`)
  return value
}

export function readNumber(value: unknown, name: string): number {
  return number({ [name]: value }, name)
}

/** One of a closed set of words. */
export function oneOf<Word extends string>(fields: Fields, name: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === fields[name])
  if (word === undefined) throw new TypeError(`${name} is ${JSON.stringify(fields[name])}`)
  return word
}

function artifact(value: unknown, name: string): Artifact {
  const fields = object(value, name)
  const roles: readonly ArtifactRole[] = ['kernel', 'initramfs', 'rootfs', 'disk']
  const { variant, sizeBytes, uncompressedSha256, signature } = fields
  return {
    role: oneOf(fields, 'role', roles),
    name: text(fields, 'name'),
    ...(variant === undefined ? {} : { variant: text(fields, 'variant') }),
    sha256: digest(fields, 'sha256'),
    location: text(fields, 'location'),
    ...(sizeBytes === undefined ? {} : { sizeBytes: number(fields, 'sizeBytes') }),
    ...(uncompressedSha256 === undefined ? {} : { uncompressedSha256: digest(fields, 'uncompressedSha256') }),
    ...(signature === undefined ? {} : { signature: text(fields, 'signature') }),
  }
}

function parse(json: string, name: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new TypeError(`${name} is not JSON`, { cause })
  }
}

function object(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`${name} is not an object`)
  }
  return value as Fields
}

function list(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${name} is not a list`)
  return value
}

function text(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is not text`)
  return value
}

function number(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError(`${name} is not a number`)
  return value
}

function digest(fields: Fields, name: string): Sha256 {
  const value = parseSha256(text(fields, name))
  if (value === undefined) throw new TypeError(`${name} is not a SHA-256`)
  return value
}
