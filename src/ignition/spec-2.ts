import { boolean, integer, list, object, text, texts } from './shape.ts'

/** Ignition 2.0.0–2.4.0, for RHCOS before 4.6 (coreos.github.io/ignition/specs). */

const hash = object({ hash: text })
const resource = object({
  source: text,
  compression: text,
  httpHeaders: list(object({ name: text, value: text })),
  verification: hash,
})
const owner = object({ id: integer, name: text })
const placed = { filesystem: text, path: text, overwrite: boolean, user: owner, group: owner }
const dropins = list(object({ name: text, contents: text }, ['name']))

const partition = object({
  label: text,
  number: integer,
  size: integer,
  start: integer,
  sizeMiB: integer,
  startMiB: integer,
  typeGuid: text,
  guid: text,
  wipePartitionEntry: boolean,
  shouldExist: boolean,
})

const user = {
  uid: integer,
  gecos: text,
  homeDir: text,
  noCreateHome: boolean,
  primaryGroup: text,
  groups: texts,
  noUserGroup: boolean,
  noLogInit: boolean,
  shell: text,
  system: boolean,
}

export const ignition2 = object(
  {
    ignition: object(
      {
        version: text,
        config: object({ append: list(resource), replace: resource }),
        timeouts: object({ httpResponseHeaders: integer, httpTotal: integer }),
        security: object({ tls: object({ certificateAuthorities: list(resource) }) }),
        proxy: object({ httpProxy: text, httpsProxy: text, noProxy: texts }),
      },
      ['version'],
    ),
    passwd: object({
      users: list(
        object({ name: text, passwordHash: text, sshAuthorizedKeys: texts, create: object(user), ...user }, [
          'name',
        ]),
      ),
      groups: list(object({ name: text, gid: integer, passwordHash: text, system: boolean }, ['name'])),
    }),
    storage: object({
      disks: list(object({ device: text, wipeTable: boolean, partitions: list(partition) }, ['device'])),
      raid: list(
        object({ name: text, level: text, devices: texts, spares: integer, options: texts }, ['name']),
      ),
      filesystems: list(
        object({
          name: text,
          path: text,
          mount: object({
            device: text,
            format: text,
            wipeFilesystem: boolean,
            label: text,
            uuid: text,
            options: texts,
            create: object({ force: boolean, options: texts }),
          }),
        }),
      ),
      files: list(
        object({ ...placed, contents: resource, append: boolean, mode: integer }, ['filesystem', 'path']),
      ),
      directories: list(object({ ...placed, mode: integer }, ['filesystem', 'path'])),
      links: list(object({ ...placed, target: text, hard: boolean }, ['filesystem', 'path'])),
    }),
    systemd: object({
      units: list(
        object({ name: text, enable: boolean, enabled: boolean, mask: boolean, contents: text, dropins }, [
          'name',
        ]),
      ),
    }),
    networkd: object({ units: list(object({ name: text, contents: text, dropins }, ['name'])) }),
  },
  ['ignition'],
)
