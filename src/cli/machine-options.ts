import type { Command } from 'commander'
import { ServiceError } from '../core/errors.ts'
import type { ExplainQuery } from '../http/admin/operations.ts'
import { choiceOption } from './command.ts'

/** What a machine says of itself, as options; shared by `explain` and `render`. */
export interface MachineOptions {
  readonly mac?: string
  readonly uuid?: string
  readonly serial?: string
  readonly host?: string
  readonly arch?: string
  readonly platform?: 'pcbios' | 'efi'
}

export function addMachineOptions(command: Command): Command {
  return command
    .option('--mac <address>', 'MAC address, in any spelling')
    .option('--uuid <uuid>', 'system UUID, in either byte order')
    .option('--serial <text>', 'serial number')
    .option('--host <id>', 'a host of the configuration, by its id')
    .option('--arch <arch>', 'architecture (default: that of the host, else x86_64)')
    .addOption(choiceOption('--platform <name>', 'what firmware it has', ['efi', 'pcbios']))
}

/** @throws ServiceError USAGE when nothing says which machine */
export function machineQuery(options: MachineOptions, { isOptional = false } = {}): ExplainQuery {
  const { mac, uuid, serial, host, arch, platform } = options
  if (!isOptional && [mac, uuid, serial, host].every((value) => value === undefined)) {
    throw new ServiceError('USAGE', 'which machine? nothing says so', {
      hint: 'give one of --mac, --uuid, --serial, --host',
    })
  }
  return {
    ...(mac !== undefined && { mac }),
    ...(uuid !== undefined && { uuid }),
    ...(serial !== undefined && { serial }),
    ...(host !== undefined && { host }),
    ...(arch !== undefined && { arch }),
    ...(platform !== undefined && { platform }),
  }
}
