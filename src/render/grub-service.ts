import { ServiceError } from '../core/errors.ts'

/** `(http,192.0.2.10)`, with a port where it is not 80: how GRUB names this service, before any path (field case 99). */
export interface GrubService {
  readonly device: string
  /** Absent: 80. */
  readonly port?: number
}

/**
 * @param whose what the script is for, for the error
 * @throws ServiceError CONFIG_INVALID for https, which GRUB does not speak (field case 100)
 */
export function grubService(baseUrl: string, whose: string): GrubService {
  const [, scheme, authority = ''] = /^(https?):\/\/(.*)$/.exec(baseUrl) ?? []
  if (scheme !== 'http') {
    throw new ServiceError(
      'CONFIG_INVALID',
      `${whose} is booted by GRUB, which speaks no https, but nodes are to use ${baseUrl}`,
      { baseUrl, hint: 'let nodes fetch by http on the boot network: files are verified here' },
    )
  }
  const port = /:(\d+)$/.exec(authority)?.[1]
  const isUsual = port === undefined || port === '80'
  const host = port === undefined ? authority : authority.slice(0, -port.length - 1)
  return isUsual ? { device: `(http,${host})` } : { device: `(http,${authority})`, port: Number(port) }
}
