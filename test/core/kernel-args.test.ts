import { describe, expect, it } from 'vitest'
import type { BootParameters } from '../../src/core/boot-decision.ts'
import {
  installKernelArguments,
  legacyInstallerKernelArguments,
  liveKernelArguments,
} from '../../src/core/kernel-args.ts'
import {
  ignitionUrlProblem,
  ipxeArgumentProblem,
  operatorArgumentProblem,
} from '../../src/core/kernel-argument-rules.ts'
import { sha256Of } from '../fakes/bootimages.ts'

const plain: BootParameters = { kernelArguments: [], platformId: 'metal', rootfs: 'url', extraInitrds: [] }
const ignition = { url: 'http://192.0.2.20/worker.ign' }
const extra = { path: '/x.cpio', sha256: sha256Of('x') }
const rootfsUrl = 'http://192.0.2.10/rootfs'

function live(parameters: Partial<BootParameters> = {}, initrds: readonly string[] = ['main']) {
  const ignitionUrl = parameters.ignition?.url
  return liveKernelArguments({ parameters: { ...plain, ...parameters }, initrds, rootfsUrl, ignitionUrl })
}

describe('live from RAM (facts §12.1, field case 129)', () => {
  it('without Ignition has no word of it', () => {
    expect(live()).toEqual({
      own: ['initrd=main', `coreos.live.rootfs_url=${rootfsUrl}`, 'rd.neednet=1'],
      bootInterface: true,
      operator: [],
    })
  })

  it('with Ignition has all three of its words', () => {
    expect(live({ ignition, platformId: 'qemu' }).own).toEqual([
      'initrd=main',
      `coreos.live.rootfs_url=${rootfsUrl}`,
      'rd.neednet=1',
      'ignition.firstboot',
      'ignition.platform.id=qemu',
      `ignition.config.url=${ignition.url}`,
    ])
  })

  it('with an extra initrd runs Ignition, which may be in there', () => {
    const { own } = live({ extraInitrds: [extra] }, ['main', 'extra0'])
    expect(own.slice(0, 2)).toEqual(['initrd=main', 'initrd=extra0'])
    expect(own).toContain('ignition.firstboot')
    expect(own.some((argument) => argument.startsWith('ignition.config.url'))).toBe(false)
  })

  it('with the rootfs as initrd has no URL of it', () => {
    const { own } = liveKernelArguments({ parameters: plain, initrds: ['main', 'rootfs'] })
    expect(own).toEqual(['initrd=main', 'initrd=rootfs', 'rd.neednet=1'])
  })
})

describe('install to disk (facts §12.2, §13)', () => {
  const install = (parameters: Partial<BootParameters>, device = '/dev/sda', installerUrl?: string) =>
    installKernelArguments({
      parameters: { ...plain, ...parameters },
      initrds: ['main'],
      rootfsUrl,
      device,
      ignitionUrl: parameters.ignition?.url,
      installerUrl,
    }).own

  it('gives Ignition to the installed system alone', () => {
    expect(install({ ignition })).toEqual([
      'initrd=main',
      `coreos.live.rootfs_url=${rootfsUrl}`,
      'rd.neednet=1',
      'coreos.inst.install_dev=/dev/sda',
      `coreos.inst.ignition_url=${ignition.url}`,
    ])
  })

  it('runs Ignition in the live system only for an extra initrd', () => {
    expect(install({ extraInitrds: [extra] })).toContain('ignition.firstboot')
  })

  it('or for a config of its own, beside that of the installed system', () => {
    expect(install({ ignition }, '/dev/sda', 'http://192.0.2.10/installer.ign').slice(2)).toEqual([
      'rd.neednet=1',
      'ignition.firstboot',
      'ignition.platform.id=metal',
      'ignition.config.url=http://192.0.2.10/installer.ign',
      'coreos.inst.install_dev=/dev/sda',
      `coreos.inst.ignition_url=${ignition.url}`,
    ])
  })

  it('names a platform that is not metal', () => {
    expect(install({ platformId: 'vmware' })).toContain('coreos.inst.platform_id=vmware')
  })

  it('writes the device with its folder', () => {
    expect(install({}, 'sda')).toContain('coreos.inst.install_dev=/dev/sda')
    expect(install({}, '/dev/disk/by-id/wwn-1')).toContain('coreos.inst.install_dev=/dev/disk/by-id/wwn-1')
  })
})

describe('the legacy installer (facts §12.7)', () => {
  const legacy = (parameters: Partial<BootParameters>, device = '/dev/sda') =>
    legacyInstallerKernelArguments({
      parameters: { ...plain, ...parameters },
      initrds: ['main'],
      device,
      imageUrl: 'http://192.0.2.10/metal.raw.gz',
      ignitionUrl: parameters.ignition?.url,
    })

  it('has its network words, coreos.inst=yes and the device without /dev/', () => {
    expect(legacy({ ignition })).toEqual({
      own: [
        'initrd=main',
        'ip=dhcp',
        'rd.neednet=1',
        'coreos.inst=yes',
        'coreos.inst.install_dev=sda',
        'coreos.inst.image_url=http://192.0.2.10/metal.raw.gz',
        `coreos.inst.ignition_url=${ignition.url}`,
      ],
      bootInterface: false,
      operator: [],
    })
  })

  it('must be told that there is no Ignition', () => {
    expect(legacy({}).own).toContain('coreos.inst.ignition_url=skip')
  })

  it('takes the bare device name as it is', () => {
    expect(legacy({}, 'nvme0n1').own).toContain('coreos.inst.install_dev=nvme0n1')
  })

  it('yields its network to the operator', () => {
    const { own, operator } = legacy({
      kernelArguments: ['ip=192.0.2.5::192.0.2.1:255.255.255.0::eno1:none'],
    })
    expect(own).not.toContain('ip=dhcp')
    expect(operator).toHaveLength(1)
  })
})

describe("the operator's arguments", () => {
  it('come last, in the given order', () => {
    const given = ['console=tty0', 'console=ttyS0,115200n8', 'quiet']
    expect(live({ kernelArguments: given }).operator).toEqual(given)
  })

  it('given twice stay once, at their last place', () => {
    const given = ['console=ttyS0', 'console=tty0', 'console=ttyS0']
    expect(live({ kernelArguments: given }).operator).toEqual(['console=tty0', 'console=ttyS0'])
  })

  it('replace ours for the same key, so that no key stands twice', () => {
    const { own, operator } = live({
      ignition,
      kernelArguments: ['rd.neednet=0', 'ignition.platform.id=qemu', 'ignition.config.url=http://x/y'],
    })
    expect(own).toEqual(['initrd=main', `coreos.live.rootfs_url=${rootfsUrl}`, 'ignition.firstboot'])
    expect(operator).toHaveLength(3)
  })

  it('with an Ignition URL of their own get the words that make Ignition run', () => {
    const { own } = live({ kernelArguments: ['ignition.config.url=http://x/y'] })
    expect(own.slice(-2)).toEqual(['ignition.firstboot', 'ignition.platform.id=metal'])
  })

  it.each([
    [['ip=dhcp'], true],
    [['nameserver=192.0.2.1', 'rd.net.timeout.carrier=30'], true],
    [['ip=eno1:dhcp'], false],
    [['ip=192.0.2.5::192.0.2.1:255.255.255.0:n1:eno1:none'], false],
    [['bond=bond0:em1,em2:mode=active-backup', 'ip=bond0:dhcp'], false],
    [['vlan=ens2.100:ens2'], false],
    [['rd.bootif=0'], false],
    [['BOOTIF=01-52-54-00-ab-cd-ef'], false],
  ])('%j: the boot interface is named: %s', (kernelArguments, expected) => {
    expect(live({ kernelArguments }).bootInterface).toBe(expected)
  })
})

describe('what a kernel argument may be', () => {
  it.each(['quiet', 'a;b', 'a||b', 'console=ttyS0,115200n8', 'x=a#b', '$', 'a{b}', '"', "it's", 'a\\b'])(
    'iPXE can carry %j (field case 118)',
    (argument) => {
      expect(ipxeArgumentProblem(argument)).toBeUndefined()
    },
  )

  it.each([
    '',
    ';',
    '&&',
    '||',
    '#x',
    '#',
    'a\\',
    'a b',
    'a\tb',
    'a\nb',
    'a\rb',
    '${x}',
    'a=${x:y}',
    'ü',
    '\u0000',
    '\u007f',
  ])('iPXE cannot carry %j (field case 118)', (argument) => {
    expect(ipxeArgumentProblem(argument)).toBeTypeOf('string')
  })

  it.each([
    'initrd=x',
    'coreos.live.rootfs_url=http://x',
    'coreos.inst=yes',
    'coreos.inst',
    'coreos.inst.install_dev=/dev/sda',
    'coreos.inst.image_url=http://x',
    'coreos.inst.stream=stable',
  ])('an operator cannot give %s: it would mix releases or install unasked (G2)', (argument) => {
    expect(operatorArgumentProblem(argument)).toBe('the service sets it itself')
  })

  it.each(['coreos.inst.skip_reboot', 'coreos.inst.insecure', 'initrdfoo=1', 'ip=dhcp'])(
    'an operator can give %s',
    (argument) => {
      expect(operatorArgumentProblem(argument)).toBeUndefined()
    },
  )

  it.each([
    ['http://x/y', 'live', true],
    ['https://x/y', 'install', true],
    ['s3://bucket/key', 'live', true],
    ['gs://bucket/key', 'live', true],
    ['tftp://x/y', 'install', false],
    ['ftp://x/y', 'live', false],
    ['/worker.ign', 'live', false],
    ['http://x/a b', 'live', false],
    ['http://', 'live', false],
  ] as const)('Ignition URL %j for %s: usable %s', (url, mode, usable) => {
    expect(ignitionUrlProblem(url, mode) === undefined).toBe(usable)
  })
})
