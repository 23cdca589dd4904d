import { boolean, integer, list, object, text, texts } from './shape.ts'

/** Ignition 3.0.0–3.5.0, all keys of all of them (coreos.github.io/ignition/specs). */

const resource = object({
  source: text,
  compression: text,
  httpHeaders: list(object({ name: text, value: text }, ['name'])),
  verification: object({ hash: text }),
})
const owner = object({ id: integer, name: text })
const placed = { path: text, overwrite: boolean, user: owner, group: owner }

const partition = object({
  label: text,
  number: integer,
  sizeMiB: integer,
  startMiB: integer,
  typeGuid: text,
  guid: text,
  wipePartitionEntry: boolean,
  shouldExist: boolean,
  resize: boolean,
})

const luks = object(
  {
    name: text,
    label: text,
    uuid: text,
    device: text,
    keyFile: resource,
    options: texts,
    openOptions: texts,
    wipeVolume: boolean,
    discard: boolean,
    cex: object({ enabled: boolean }),
    clevis: object({
      custom: object({ pin: text, config: text, needsNetwork: boolean }),
      tang: list(object({ url: text, thumbprint: text, advertisement: text }, ['url'])),
      tpm2: boolean,
      threshold: integer,
    }),
  },
  ['name'],
)

export const ignition3 = object(
  {
    ignition: object(
      {
        version: text,
        config: object({ merge: list(resource), replace: resource }),
        timeouts: object({ httpResponseHeaders: integer, httpTotal: integer }),
        security: object({ tls: object({ certificateAuthorities: list(resource) }) }),
        proxy: object({ httpProxy: text, httpsProxy: text, noProxy: texts }),
      },
      ['version'],
    ),
    kernelArguments: object({ shouldExist: texts, shouldNotExist: texts }),
    passwd: object({
      users: list(
        object(
          {
            name: text,
            passwordHash: text,
            sshAuthorizedKeys: texts,
            uid: integer,
            gecos: text,
            homeDir: text,
            noCreateHome: boolean,
            primaryGroup: text,
            groups: texts,
            noUserGroup: boolean,
            noLogInit: boolean,
            shell: text,
            shouldExist: boolean,
            system: boolean,
          },
          ['name'],
        ),
      ),
      groups: list(
        object({ name: text, gid: integer, passwordHash: text, shouldExist: boolean, system: boolean }, [
          'name',
        ]),
      ),
    }),
    storage: object({
      disks: list(object({ device: text, wipeTable: boolean, partitions: list(partition) }, ['device'])),
      raid: list(
        object({ name: text, level: text, devices: texts, spares: integer, options: texts }, ['name']),
      ),
      filesystems: list(
        object(
          {
            device: text,
            format: text,
            path: text,
            wipeFilesystem: boolean,
            label: text,
            uuid: text,
            options: texts,
            mountOptions: texts,
          },
          ['device'],
        ),
      ),
      files: list(object({ ...placed, contents: resource, append: list(resource), mode: integer }, ['path'])),
      directories: list(object({ ...placed, mode: integer }, ['path'])),
      links: list(object({ ...placed, target: text, hard: boolean }, ['path'])),
      luks: list(luks),
    }),
    systemd: object({
      units: list(
        object(
          {
            name: text,
            enabled: boolean,
            mask: boolean,
            contents: text,
            dropins: list(object({ name: text, contents: text }, ['name'])),
          },
          ['name'],
        ),
      ),
    }),
  },
  ['ignition'],
)
