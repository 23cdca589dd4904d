import { parseBootId } from '../core/boot-event.ts'
import type { BootimageId } from '../core/bootimage.ts'
import {
  type Actor,
  type AuditEntry,
  type NodeReport,
  reportStates,
  type SeenMachine,
} from '../core/fleet.ts'
import { parseMac } from '../core/mac.ts'
import type { AuditEntryRow, NodeReportRow, SeenMachineRow } from './fleet-tables.ts'
import type { KeptAuditEntry } from './store.ts'
import { oneOf, readArch, readNumber, readProse, readText } from './stored-value.ts'

/** What happened, to rows and back. The way back checks every value and throws a TypeError that names it. */

const ways: readonly Actor['via'][] = ['api', 'control', 'page', 'report', 'service']

export function auditRow(entry: AuditEntry): Omit<AuditEntryRow, 'id'> {
  return {
    at: entry.at,
    done_by: entry.by,
    via: entry.via,
    action: entry.action,
    target: entry.target,
    summary: entry.summary,
    reason: entry.reason ?? null,
  }
}

export function auditEntry(row: AuditEntryRow): KeptAuditEntry {
  return {
    id: readNumber(row.id, 'id'),
    at: readNumber(row.at, 'at'),
    by: readProse(row.done_by, 'done_by'),
    via: oneOf({ via: row.via }, 'via', ways),
    action: readText(row.action, 'action'),
    target: readProse(row.target, 'target'),
    summary: readProse(row.summary, 'summary'),
    ...(row.reason === null ? {} : { reason: readProse(row.reason, 'reason') }),
  }
}

export function reportRow(report: NodeReport): NodeReportRow {
  return {
    boot_id: report.bootId,
    status: report.status,
    at: report.at,
    host: report.host ?? null,
    mac: report.mac ?? null,
    address: report.address ?? null,
    bootimage: report.bootimage ?? null,
    os_version: report.osVersion ?? null,
    kernel_command_line_sha256: report.kernelCommandLineSha256 ?? null,
    machine_id: report.machineId ?? null,
    message: report.message ?? null,
  }
}

export function nodeReport(row: NodeReportRow): NodeReport {
  const bootId = parseBootId(readText(row.boot_id, 'boot_id'))
  if (bootId === undefined) throw new TypeError(`boot_id is ${JSON.stringify(row.boot_id)}`)
  return {
    bootId,
    status: oneOf({ status: row.status }, 'status', reportStates),
    at: readNumber(row.at, 'at'),
    ...(row.host === null ? {} : { host: readText(row.host, 'host') }),
    ...(row.mac === null ? {} : { mac: readMac(row.mac) }),
    ...(row.address === null ? {} : { address: readProse(row.address, 'address') }),
    ...(row.bootimage === null ? {} : { bootimage: readText(row.bootimage, 'bootimage') as BootimageId }),
    ...(row.os_version === null ? {} : { osVersion: readProse(row.os_version, 'os_version') }),
    ...(row.kernel_command_line_sha256 === null
      ? {}
      : {
          kernelCommandLineSha256: readProse(row.kernel_command_line_sha256, 'kernel_command_line_sha256'),
        }),
    ...(row.machine_id === null ? {} : { machineId: readProse(row.machine_id, 'machine_id') }),
    ...(row.message === null ? {} : { message: readProse(row.message, 'message') }),
  }
}

export function seenMachineRow(machine: SeenMachine): SeenMachineRow {
  return {
    mac: machine.mac,
    first_seen_at: machine.firstSeenAt,
    last_seen_at: machine.lastSeenAt,
    seen_count: machine.count,
    uuid: machine.uuid ?? null,
    serial: machine.serial ?? null,
    arch: machine.arch ?? null,
    firmware: machine.firmware ?? null,
    address: machine.address ?? null,
    decision: machine.decision ?? null,
  }
}

export function seenMachine(row: SeenMachineRow): SeenMachine {
  return {
    mac: readMac(row.mac),
    firstSeenAt: readNumber(row.first_seen_at, 'first_seen_at'),
    lastSeenAt: readNumber(row.last_seen_at, 'last_seen_at'),
    count: readNumber(row.seen_count, 'seen_count'),
    ...(row.uuid === null ? {} : { uuid: readProse(row.uuid, 'uuid') }),
    ...(row.serial === null ? {} : { serial: readProse(row.serial, 'serial') }),
    ...(row.arch === null ? {} : { arch: readArch(row.arch) }),
    ...(row.firmware === null ? {} : { firmware: readProse(row.firmware, 'firmware') }),
    ...(row.address === null ? {} : { address: readProse(row.address, 'address') }),
    ...(row.decision === null ? {} : { decision: readProse(row.decision, 'decision') }),
  }
}

function readMac(value: unknown) {
  const mac = typeof value === 'string' ? parseMac(value) : undefined
  if (mac === undefined) throw new TypeError(`mac is ${JSON.stringify(value)}`)
  return mac
}
