import { readFileSync } from 'node:fs'
import type { RightsFacts } from '../../doctor/check-rights.ts'

/** By their numbers (capabilities(7), linux/capability.h). */
const capabilityNames = [
  ...['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID'],
  ...['SETPCAP', 'LINUX_IMMUTABLE', 'NET_BIND_SERVICE', 'NET_BROADCAST', 'NET_ADMIN', 'NET_RAW', 'IPC_LOCK'],
  ...[
    'IPC_OWNER',
    'SYS_MODULE',
    'SYS_RAWIO',
    'SYS_CHROOT',
    'SYS_PTRACE',
    'SYS_PACCT',
    'SYS_ADMIN',
    'SYS_BOOT',
  ],
  ...[
    'SYS_NICE',
    'SYS_RESOURCE',
    'SYS_TIME',
    'SYS_TTY_CONFIG',
    'MKNOD',
    'LEASE',
    'AUDIT_WRITE',
    'AUDIT_CONTROL',
  ],
  ...[
    'SETFCAP',
    'MAC_OVERRIDE',
    'MAC_ADMIN',
    'SYSLOG',
    'WAKE_ALARM',
    'BLOCK_SUSPEND',
    'AUDIT_READ',
    'PERFMON',
  ],
  ...['BPF', 'CHECKPOINT_RESTORE'],
]

/** What a process may do, from the text of `/proc/<pid>/status`. */
export interface ProcessRights {
  readonly uid: number
  readonly capabilities: readonly string[]
}

export function parseProcessStatus(text: string): ProcessRights | undefined {
  // Real, effective, saved and file-system user; the second one counts.
  const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(text)?.[1]
  const effective = /^CapEff:\s+([0-9a-f]{1,16})$/m.exec(text)?.[1]
  if (uid === undefined || effective === undefined) return undefined
  const bits = BigInt(`0x${effective}`)
  const capabilities = capabilityNames.filter((_, number) => ((bits >> BigInt(number)) & 1n) === 1n)
  return { uid: Number(uid), capabilities }
}

/** What this process and that of the service may do. */
export function lookAtRights(servicePid: number | undefined, canBindToDevice: boolean): RightsFacts {
  const own = rightsOf('self')
  const service = servicePid === undefined ? undefined : rightsOf(String(servicePid))
  const uid = process.getuid?.()
  return {
    ...(uid === undefined ? {} : { uid }),
    mayOpenLowPorts: own?.capabilities.includes('NET_BIND_SERVICE') ?? uid === 0,
    firstOpenPort: firstOpenPort(),
    canBindToDevice,
    ...(service === undefined ? {} : { service }),
  }
}

function rightsOf(pid: string): ProcessRights | undefined {
  try {
    return parseProcessStatus(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return undefined
  }
}

function firstOpenPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  } catch {
    return 1024
  }
}
