import Type from 'typebox'
import type { BootOperations } from './boot-operations.ts'
import type { Endpoint, Endpoints } from './endpoint.ts'
import {
  BootDetail,
  BootQuery,
  BootSummary,
  Capture,
  DoctorReport,
  MachinePage,
  MachineQuery,
  PatternSummary,
} from './schemas/boots.ts'
import { pageOf } from './schemas/fleet.ts'
import { word } from './schemas/text.ts'

const strict = { additionalProperties: false } as const

/** The part of the API about boots, as a table: where each machine is, where it stopped, and what to do. */
export const bootEndpoints = {
  listBoots: {
    method: 'GET',
    path: '/boots',
    summary: 'Boots, newest first: those that go on, and those of before.',
    query: BootQuery,
    answer: pageOf(BootSummary),
  },
  showBoot: {
    method: 'GET',
    path: '/boots/:id',
    params: Type.Object(
      { id: word('Id of an attempt or of a boot; of a MAC or a host: its last one.', 64) },
      strict,
    ),
    summary: 'One boot: each step with its time, the decision with its reasons, and what is wrong.',
    answer: BootDetail,
  },
  listMachines: {
    method: 'GET',
    path: '/machines',
    summary: 'One row for each host and for each unknown machine: where it is by now.',
    query: MachineQuery,
    answer: MachinePage,
  },
  listPatterns: {
    method: 'GET',
    path: '/patterns',
    summary: 'Known ways in which a boot goes wrong, what to do, and which machines show them now.',
    answer: Type.Object({ patterns: Type.Array(PatternSummary) }, strict),
  },
  capture: {
    method: 'GET',
    path: '/captures/:mac',
    params: Type.Object({ mac: word('In any spelling.', 32) }, strict),
    summary: 'DHCP and TFTP packets of the last boots of a machine, as a pcap file in base64.',
    answer: Capture,
  },
  diagnose: {
    method: 'GET',
    path: '/doctor',
    summary: 'What pilotlight doctor finds, looked at from inside the service.',
    answer: DoctorReport,
  },
} as const satisfies Endpoints

/** Every operation has its place: this does not compile otherwise. */
bootEndpoints satisfies Readonly<Record<keyof BootOperations, Endpoint>>
