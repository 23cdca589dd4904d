import { describe, expect, it } from 'vitest'
import { failed, type IpxeMachine, ok, runIpxeScript } from '../../../src/runtime/demo/ipxe-script.ts'

function recorder(answers: Record<string, () => Awaited<ReturnType<IpxeMachine['run']>>> = {}) {
  const ran: string[] = []
  const machine: IpxeMachine = {
    settings: new Map([['netX/mac', '52:54:00:ab:cd:ef']]),
    run: async (command, words) => {
      ran.push([command, ...words].join(' '))
      return answers[command]?.() ?? ok
    },
  }
  return { ran, machine }
}

async function run(script: string, answers?: Parameters<typeof recorder>[0]) {
  const { ran, machine } = recorder(answers)
  await runIpxeScript(script, machine)
  return ran
}

describe('runIpxeScript', () => {
  it('refuses what does not start with the magic line', async () => {
    await expect(run('\n#!ipxe\necho hi\n')).rejects.toThrow('not an iPXE script')
  })

  it('expands settings in the format that is asked for', async () => {
    expect(
      await run('#!ipxe\necho ${netX/mac} ${netX/mac:hexhyp} ${netX/mac:uristring} [${unset}]\n'),
    ).toEqual(['echo 52:54:00:ab:cd:ef 52-54-00-ab-cd-ef 52%3A54%3A00%3Aab%3Acd%3Aef []'])
  })

  it('runs what follows || only after a failure, and && only after a success', async () => {
    const answers = { no: () => failed }
    expect(await run('#!ipxe\nno || a\nyes || b\nyes && c\n', answers)).toEqual([
      'no',
      'a',
      'yes',
      'yes',
      'c',
    ])
  })

  it('a skipped command leaves the outcome to the operator after it', async () => {
    const answers = { no: () => failed }
    expect(await run('#!ipxe\nno && a || b\nyes || c && d\nno ||\nlast\n', answers)).toEqual([
      'no',
      'b',
      'yes',
      'd',
      'no',
      'last',
    ])
  })

  it('stops at the first failing line', async () => {
    await expect(run('#!ipxe\nno\necho never\n', { no: () => failed })).rejects.toThrow('stopped at: no')
  })

  it('loops with inc, iseq and goto until the condition holds', async () => {
    const script = '#!ipxe\nset n 0\n:again\ninc n\necho ${n}\niseq ${n} 3 || goto again\necho done\n'
    expect(await run(script)).toEqual(['echo 1', 'echo 2', 'echo 3', 'echo done'])
  })

  it('a chained script replaces the running one', async () => {
    const chain = () => ({ kind: 'script', text: '#!ipxe\necho second\n' }) as const
    expect(await run('#!ipxe\nchain x\necho never\n', { chain })).toEqual(['chain x', 'echo second'])
  })

  it('a word that only contains an operator is no operator', async () => {
    expect(await run('#!ipxe\nkernel u a;b c||d e&&f\n')).toEqual(['kernel u a;b c||d e&&f'])
  })

  it('a script that never ends is an error, not a hang', async () => {
    await expect(run('#!ipxe\n:a\ngoto a\n')).rejects.toThrow('did not end')
  })
})
